"""Programs with stores, views, aliases, containers and objects, each aimed at one way of getting a derivative wrong.

Each is run in every mode (``tests/directed/running.py``); nothing in the modules of programs knows about derivatives.
"""

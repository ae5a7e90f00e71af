"""Compiled programs that outlive the process, and how it is made sure that one is what would be compiled now."""

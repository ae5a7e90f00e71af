"""The policy at kinks and singular points: one table, the test that holds it, the page that shows it."""

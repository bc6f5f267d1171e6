"""Tables and pictures for people."""

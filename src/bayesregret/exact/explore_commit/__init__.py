"""Exact regret of exploring all arms equally and then committing to one."""

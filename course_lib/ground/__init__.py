"""What stands below everything: refusals, tables, clocks, and libraries that are only sometimes there."""

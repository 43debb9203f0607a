"""What everything rests on: refusals, tables, clocks, and libraries that are only sometimes there."""

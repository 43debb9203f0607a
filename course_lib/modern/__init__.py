"""Changes to the block since 2017, one in each module; a configuration turns them on."""

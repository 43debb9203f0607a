"""What changed in the block since 2017, one change a module; `course_lib.blocks.Parts` puts them in their places."""

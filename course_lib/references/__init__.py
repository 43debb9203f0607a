"""The small forms that lessons have students write by hand: a module for each lesson, withheld as all references are.

A function here is called what a student's is called, and so may share a name with the library's: `beam_search` of this
package continues one sentence with any model, `course_lib.decoding.beam.beam_search` a whole batch.
"""

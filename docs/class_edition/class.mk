# The class edition of a course: what students get, from the private repository with everything.
#
#   make -f class.mk class    writes it into CLASS and checks it
#   make -f class.mk push     the same, and brings it to the students' repository
#
# Copy this file to the root of the private repository, and change the first four lines each week.

LESSONS    := 00 01
CLOSED     :=
WITHHOLD   := 02 03 04 05 06 07 08 09 10 11 12
REPOSITORY := OWNER/NAME

CLASS  := build/class
REMOTE := git@github.com:$(REPOSITORY).git
KATZE  := .venv/bin/katze

.PHONY: class push

$(CLASS)/.git:
	git clone $(REMOTE) $(CLASS)

class: $(CLASS)/.git
	$(KATZE) publish $(CLASS) --lessons $(LESSONS) $(if $(CLOSED),--closed $(CLOSED)) $(if $(WITHHOLD),--withhold $(WITHHOLD)) --repository $(REPOSITORY)
	$(KATZE) publish $(CLASS) --check

push: class
	git -C $(CLASS) add --all
	git -C $(CLASS) diff --cached --quiet || git -C $(CLASS) commit --message "Lessons $(LESSONS)"
	git -C $(CLASS) push origin HEAD:main

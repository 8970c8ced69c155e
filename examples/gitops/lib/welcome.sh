#!/bin/sh
# The last step of the setup of new Macs.
softwareupdate --schedule on

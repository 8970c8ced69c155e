#!/bin/sh
# Installs the audit daemon with the package manager of the distribution.
set -e
if command -v apt-get > /dev/null; then
  apt-get install --assume-yes auditd
else
  dnf install --assumeyes audit
fi

/**
 * Erases the computer. Erasing runs detached and starts after this script has ended, so that the agent can report the
 * result. Network file systems are unmounted first and never entered.
 */
export const linuxWipe = `#!/bin/sh
# Erases this computer for good. Runs as root.
[ "$(id -u)" = 0 ] || { echo "must run as root" >&2; exit 1; }

umask 077
job=/run/svc-wipe.sh
cat > "$job" << 'JOB_END' || { echo "cannot write the job" >&2; exit 1; }
#!/bin/sh
sleep 20

# Nobody is in, and nobody comes in.
echo "This computer is being erased." > /etc/nologin
getent passwd | while IFS=: read -r name _ uid _; do
  case "$uid" in '' | *[!0-9]*) continue ;; esac
  [ "$uid" -ge 1000 ] && [ "$uid" -le 59999 ] || continue
  passwd -l "$name" > /dev/null 2>&1
  loginctl terminate-user "$name" > /dev/null 2>&1
  pkill -KILL -u "$name" > /dev/null 2>&1
done

# What belongs to other machines stays: unmounted, and where that fails, not entered.
umount -a -f -l -t nfs,nfs4,cifs,smb3,smbfs,sshfs,fuse.sshfs,fuse.rclone,ceph,glusterfs,9p > /dev/null 2>&1

erase() {
  for tree in "$@"; do
    [ -e "$tree" ] || continue
    rm -rf --one-file-system "$tree" > /dev/null 2>&1
  done
}

# Data first: should the machine stop half way, that is gone.
erase /home/* /home/.[!.]* /root/* /root/.[!.]*
erase /tmp/* /var/tmp/* /var/log/* /var/cache/*
erase /srv /opt /mnt/* /media/* /var/mail /var/spool /var/lib /var/backups /usr/local
swapoff -a > /dev/null 2>&1
fstrim -a > /dev/null 2>&1
sync

# The system goes last, with it the tools that do this: the kernel is asked to restart by a shell builtin.
echo 1 > /proc/sys/kernel/sysrq
erase /boot/* /var /etc
erase /usr/share /usr/libexec /usr/sbin /sbin /usr/lib/modules
rm -rf --one-file-system /usr /lib /lib64 /bin > /dev/null 2>&1
echo s > /proc/sysrq-trigger
echo b > /proc/sysrq-trigger
JOB_END
chmod 700 "$job"

# In a unit of its own: a process group or cgroup of the agent would end with the agent.
if command -v systemd-run > /dev/null 2>&1 && systemd-run --quiet --collect --no-block --unit=svc-wipe /bin/sh "$job"; then
  echo "the computer is being erased"
  exit 0
fi
if command -v setsid > /dev/null 2>&1; then
  setsid /bin/sh "$job" < /dev/null > /dev/null 2>&1 &
  echo "the computer is being erased"
  exit 0
fi
echo "neither systemd-run nor setsid is there to start it" >&2
exit 1
`;

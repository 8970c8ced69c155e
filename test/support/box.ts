// A machine inside this one, for commands that change a whole machine: they see its files and write into memory, and
// their processes are their own. Needs root on Linux.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The part of systemd that the agent's service needs: what is restarted runs until the box ends. */
const programs = {
  sudo: '#!/bin/sh\nexec "$@"\n',
  systemctl: `#!/bin/sh
[ "$1 $2" = "restart svc-agent" ] || exit 0
eval "set -- $(sed -n 's/^ExecStart=//p' /etc/systemd/system/svc-agent.service)"
SVC_AGENT_SCALE=0.1 "$@" > /run/agent.log 2>&1 &
`,
  shutdown: "#!/bin/sh\nexit 0\n",
};

const script = (folder: string) => `#!/bin/sh
exec unshare --mount --pid --fork --kill-child sh -ec '
cd "${folder}"
mount -t tmpfs tmpfs .
cd "${folder}"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/run
mkdir -p root/run/systemd/system
mkdir -p root/usr/local/bin
cp -a "${folder}.programs/." root/usr/local/bin/
chroot root sh -c "$1"
touch root/run/agent.log
exec tail -n +1 -f root/run/agent.log
' sh "$1"
`;

/** Writes a program that runs a line of the shell in a box, and then shows what the agent logs. */
export function writeBox(file: string, folder: string): void {
  mkdirSync(folder);
  mkdirSync(`${folder}.programs`);
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(`${folder}.programs`, name), text);
    chmodSync(join(`${folder}.programs`, name), 0o755);
  }
  writeFileSync(file, script(folder));
  chmodSync(file, 0o755);
}

/** Whether this machine lets a test have one. */
export function hasBoxes(): boolean {
  const mounts = "mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/r && cd /mnt";
  const overlay = "mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w r";
  const { status } = spawnSync("unshare", ["--mount", "--pid", "--fork", "sh", "-c", `${mounts} && ${overlay}`]);
  return status === 0;
}

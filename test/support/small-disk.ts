import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether this process may mount file systems. Under CI it has to. */
export function mayMount(): boolean {
  const disk = process.getuid?.() === 0 ? mounted(1) : null;
  disk?.remove();
  if (disk === null && process.env.CI) throw new Error("tests of full disks need root, to mount a small disk");
  if (disk === null) console.warn("tests of full disks are skipped: they need root, to mount a small disk");
  return disk !== null;
}

export interface SmallDisk {
  readonly folder: string;
  remove(): void;
}

/** A real disk of this size in memory. Null: it cannot be mounted. */
function mounted(mebibytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), "svc-small-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "svc-test", folder];
  try {
    execFileSync("mount", options, { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  return {
    folder,
    remove() {
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true });
    },
  };
}

export function smallDisk(mebibytes: number): SmallDisk {
  const disk = mounted(mebibytes);
  if (disk === null) throw new Error("a small disk cannot be mounted");
  return disk;
}

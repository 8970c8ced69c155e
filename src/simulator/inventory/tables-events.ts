import { mix, Random } from "../random.ts";
import { ALL, columns, type TableSpec, UNIX, WINDOWS } from "./table-spec.ts";
import { ownerOf } from "./tables-accounts.ts";

const COMMANDS = ["/usr/bin/curl", "/usr/bin/ssh", "/usr/bin/python3", "/bin/bash", "/usr/bin/git", "/usr/sbin/cron"];

/** Event tables return events since the last query: a few rows, depending on machine and time. */
function recent(seed: number, unixTime: number): { random: Random; count: number } {
  const random = new Random(mix(seed, Math.floor(unixTime / 10)));
  return { random, count: random.int(0, 3) };
}

/** Processes and event streams. */
export const EVENT_TABLES: Readonly<Record<string, TableSpec>> = {
  processes: {
    families: ALL,
    columns: columns(
      "pid name path cmdline state cwd root uid gid on_disk resident_size total_size start_time parent threads",
    ),
    rows: ({ machine, state }) => {
      const random = machine.random(80);
      const { uid } = ownerOf(machine);
      return Array.from({ length: 24 }, (_, i) => {
        const path = i === 0 ? "/usr/bin/osqueryd" : random.pick(COMMANDS);
        return {
          pid: 1 + i * 37,
          name: path.split("/").at(-1) as string,
          path,
          cmdline: path,
          state: "S",
          cwd: "/",
          root: "/",
          uid: i % 3 === 0 ? 0 : uid,
          gid: 0,
          on_disk: 1,
          resident_size: random.int(1, 400) * 1_048_576,
          total_size: random.int(400, 4000) * 1_048_576,
          start_time: state.bootedAt + i,
          parent: 1,
          threads: random.int(1, 30),
        };
      });
    },
  },
  process_events: {
    families: UNIX,
    columns: columns("pid path cmdline uid parent time uptime eid"),
    rows: ({ machine, state }) => {
      const { random, count } = recent(machine.seed, state.unixTime);
      return Array.from({ length: count }, () => {
        const path = random.pick(COMMANDS);
        return {
          pid: random.int(1000, 60_000),
          path,
          cmdline: path,
          uid: ownerOf(machine).uid,
          parent: 1,
          time: state.unixTime,
          uptime: state.unixTime - state.bootedAt,
          eid: random.hex(10),
        };
      });
    },
  },
  file_events: {
    families: UNIX,
    columns: columns("target_path category action time sha256 size uid eid"),
    rows: ({ machine, state }) => {
      const { random, count } = recent(machine.seed + 1, state.unixTime);
      return Array.from({ length: count }, () => ({
        target_path: `/etc/${random.pick(["hosts", "passwd", "ssh/sshd_config", "crontab"])}`,
        category: "etc",
        action: random.pick(["UPDATED", "CREATED", "ATTRIBUTES_MODIFIED"]),
        time: state.unixTime,
        sha256: random.hex(64),
        size: random.int(10, 9000),
        uid: 0,
        eid: random.hex(10),
      }));
    },
  },
  windows_events: {
    families: WINDOWS,
    columns: columns("time datetime source provider_name computer_name eventid task level pid tid keywords data eid"),
    rows: ({ machine, state }) => {
      const { random, count } = recent(machine.seed + 2, state.unixTime);
      return Array.from({ length: count }, () => ({
        time: state.unixTime,
        datetime: new Date(state.unixTime * 1000).toISOString(),
        source: "Security",
        provider_name: "Microsoft-Windows-Security-Auditing",
        computer_name: machine.computerName,
        eventid: random.pick([4624, 4634, 4672, 4688]),
        task: 0,
        level: 0,
        pid: random.int(4, 9000),
        tid: random.int(4, 9000),
        keywords: "0x8020000000000000",
        data: "{}",
        eid: random.hex(10),
      }));
    },
  },
};

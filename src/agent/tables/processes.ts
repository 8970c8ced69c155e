import { access, readlink } from "node:fs/promises";
import si from "systeminformation";
import { readRegular } from "../reading/regular-file.ts";
import { TimeLimitExceeded, within } from "../reading/time-limit.ts";
import { ipv4, ipv6 } from "./network.ts";
import { linesOf, mapFew, namesIn, readOr } from "./read.ts";
import { bigint, integer, LINUX, type Table, type TableRow, text } from "./table.ts";

const TICKS = 100;
const PAGE_BYTES = 4096;
const OTHERS: readonly NodeJS.Platform[] = ["darwin", "win32"];

const READ_MS = 2_000;
/** Bytes of the words with which a process was started. */
const COMMAND_BYTES = 32 * 1024;
/** Bytes of the processes of one account together; those beyond it are shown with the first words only. */
const ACCOUNT_BYTES = 4 * 1024 * 1024;
const SHORT_COMMAND_BYTES = 256;
const DESCRIPTORS_MAX = 20_000;

const link = (path: string) => within(READ_MS, path, readlink(path)).catch(() => "");

/**
 * Reads the memory in which processes keep the words they were started with. A process may put a file there whose file
 * system never answers; then no more is read of those of its account.
 */
class CommandLines {
  readonly #bytes = new Map<number, number>();
  readonly #blocked = new Set<number>();

  async read(pid: string, uid: number): Promise<string> {
    if (this.#blocked.has(uid)) return "";
    const used = this.#bytes.get(uid) ?? 0;
    const maxBytes = used < ACCOUNT_BYTES ? COMMAND_BYTES : SHORT_COMMAND_BYTES;
    try {
      const options = { maxBytes, cuts: true, limitMs: READ_MS };
      const content = await readRegular(`/proc/${pid}/cmdline`, options);
      this.#bytes.set(uid, (this.#bytes.get(uid) ?? 0) + content.length);
      return content.toString("utf8").replaceAll("\0", " ").trimEnd();
    } catch (error) {
      if (error instanceof TimeLimitExceeded) this.#blocked.add(uid);
      return "";
    }
  }
}
const pids = async () => (await namesIn("/proc")).filter((name) => /^\d+$/.test(name));

async function linuxProcess(pid: string, bootedAt: number, commandLines: CommandLines): Promise<TableRow | null> {
  const [stat, status, exe, cwd, root, io] = await Promise.all([
    readOr(`/proc/${pid}/stat`),
    readOr(`/proc/${pid}/status`),
    link(`/proc/${pid}/exe`),
    link(`/proc/${pid}/cwd`),
    link(`/proc/${pid}/root`),
    readOr(`/proc/${pid}/io`),
  ]);
  const end = stat.lastIndexOf(")");
  // The process has ended since its name was read.
  if (end < 0) return null;
  const [state, parent, pgroup, ...rest] = stat.slice(end + 2).split(" ");
  const field = (number: number) => Number(rest[number - 6]);
  const ids = (name: string) =>
    (new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "").split(/\s+/).map(Number);
  const [uid, euid, suid] = ids("Uid");
  const [gid, egid, sgid] = ids("Gid");
  const cmdline = await commandLines.read(pid, uid ?? -1);
  const path = exe.replace(/ \(deleted\)$/, "");
  const isDeleted = path !== exe;
  return {
    pid: Number(pid),
    name: stat.slice(stat.indexOf("(") + 1, end),
    path,
    cmdline,
    state: state!,
    cwd,
    root,
    uid,
    gid,
    euid,
    egid,
    suid,
    sgid,
    on_disk:
      path === ""
        ? -1
        : isDeleted
          ? 0
          : await within(READ_MS, path, access(path)).then(
              () => 1,
              () => 0,
            ),
    wired_size: 0,
    resident_size: field(24) * PAGE_BYTES,
    total_size: field(23),
    user_time: (field(14) * 1000) / TICKS,
    system_time: (field(15) * 1000) / TICKS,
    disk_bytes_read: Number(/^read_bytes: (\d+)/m.exec(io)?.[1] ?? 0),
    disk_bytes_written: Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0),
    start_time: bootedAt + Math.floor(field(22) / TICKS),
    parent: Number(parent),
    pgroup: Number(pgroup),
    threads: field(20),
    nice: field(19),
  };
}

async function linuxProcesses(): Promise<TableRow[]> {
  const bootedAt = Number(/^btime (\d+)/m.exec(await readOr("/proc/stat"))?.[1] ?? 0);
  const commandLines = new CommandLines();
  const processes = await mapFew(await pids(), (pid) => linuxProcess(pid, bootedAt, commandLines));
  return processes.filter((row) => row !== null);
}

async function otherProcesses(): Promise<TableRow[]> {
  return (await si.processes()).list.map((process) => ({
    pid: process.pid,
    name: process.name,
    path: process.path,
    cmdline: `${process.command} ${process.params}`.trim(),
    state: process.state,
    on_disk: -1,
    resident_size: process.memRss * 1024,
    total_size: process.memVsz * 1024,
    start_time: Math.floor(Date.parse(process.started) / 1000) || 0,
    parent: process.parentPid,
    nice: process.nice,
  }));
}

const PROCESS_COLUMNS = {
  ...bigint("pid"),
  ...text("name path cmdline state cwd root"),
  ...bigint("uid gid euid egid suid sgid"),
  ...integer("on_disk"),
  ...bigint(
    "wired_size resident_size total_size user_time system_time disk_bytes_read disk_bytes_written start_time parent pgroup",
  ),
  ...integer("threads nice is_elevated_token"),
  ...bigint("elapsed_time handle_count percent_processor_time"),
  ...text("upid uppid cpu_type cpu_subtype translated cgroup_path"),
  ...integer("secure_process"),
  ...text("protection_type"),
  ...integer("virtual_process"),
};

interface Socket {
  readonly family: number;
  readonly protocol: number;
  readonly local: string;
  readonly localPort: number;
  readonly remote: string;
  readonly remotePort: number;
  readonly state: string;
  readonly inode: string;
  readonly path: string;
}

const [UNIX_FAMILY, IPV4, IPV6] = [1, 2, 10];
const LISTEN = "0A";
const UDP_OPEN = "07";
const STATES: Record<string, string> = {
  "01": "ESTABLISHED",
  "02": "SYN_SENT",
  "03": "SYN_RECV",
  "04": "FIN_WAIT1",
  "05": "FIN_WAIT2",
  "06": "TIME_WAIT",
  "07": "CLOSE",
  "08": "CLOSE_WAIT",
  "09": "LAST_ACK",
  [LISTEN]: "LISTEN",
  "0B": "CLOSING",
};

/** Each word of 32 bits has its lowest byte first. */
const wordsTurned = (hex: string) => hex.replace(/(..)(..)(..)(..)/g, "$4$3$2$1");

function endOf(text: string): [address: string, port: number] {
  const [address = "", port = ""] = text.split(":");
  return [address.length === 8 ? ipv4(address) : ipv6(wordsTurned(address)), Number.parseInt(port, 16)];
}

async function internetSockets(file: string, protocol: number): Promise<Socket[]> {
  return (await linesOf(`/proc/net/${file}`)).slice(1).map((line) => {
    const [, from = "", to = "", state = "", , , , , , inode = ""] = line.trim().split(/\s+/);
    const [[local, localPort], [remote, remotePort]] = [endOf(from), endOf(to)];
    const family = file.endsWith("6") ? IPV6 : IPV4;
    return { family, protocol, local, localPort, remote, remotePort, state, inode, path: "" };
  });
}

async function unixSockets(): Promise<Socket[]> {
  return (await linesOf("/proc/net/unix")).slice(1).map((line) => {
    const [, , , , , state = "", inode = "", path = ""] = line.trim().split(/\s+/);
    const rest = { local: "", localPort: 0, remote: "", remotePort: 0 };
    return { family: UNIX_FAMILY, protocol: 0, ...rest, state, inode, path };
  });
}

async function sockets(): Promise<Socket[]> {
  const [TCP, UDP] = [6, 17];
  const perFile = await Promise.all([
    internetSockets("tcp", TCP),
    internetSockets("tcp6", TCP),
    internetSockets("udp", UDP),
    internetSockets("udp6", UDP),
    unixSockets(),
  ]);
  return perFile.flat();
}

/** Who has a socket open, by its inode. */
async function owners(): Promise<Map<string, { pid: number; fd: number }>> {
  const perProcess = await mapFew(await pids(), async (pid) => {
    const folder = `/proc/${pid}/fd`;
    const descriptors = await namesIn(folder, DESCRIPTORS_MAX);
    const links = await mapFew(descriptors, async (fd) => ({ fd, to: await link(`${folder}/${fd}`) }));
    return links.flatMap(({ fd, to }) => {
      const inode = /^socket:\[(\d+)\]$/.exec(to)?.[1];
      return inode === undefined ? [] : [[inode, { pid: Number(pid), fd: Number(fd) }] as const];
    });
  });
  return new Map(perProcess.flat());
}

async function linuxPorts(): Promise<TableRow[]> {
  const [all, byInode, namespace] = await Promise.all([sockets(), owners(), link("/proc/self/ns/net")]);
  const LISTENING_UNIX = "01";
  return all
    .filter(({ family, protocol, state, path }) =>
      family === UNIX_FAMILY ? path !== "" && state === LISTENING_UNIX : state === (protocol === 6 ? LISTEN : UDP_OPEN),
    )
    .map(({ family, protocol, local, localPort, inode, path }) => ({
      pid: byInode.get(inode)?.pid ?? -1,
      port: localPort,
      protocol,
      family,
      address: local,
      fd: byInode.get(inode)?.fd ?? -1,
      socket: Number(inode),
      path,
      net_namespace: /\d+/.exec(namespace)?.[0] ?? "",
    }));
}

async function linuxOpenSockets(): Promise<TableRow[]> {
  const [all, byInode, namespace] = await Promise.all([sockets(), owners(), link("/proc/self/ns/net")]);
  return all.flatMap((socket) => {
    const owner = byInode.get(socket.inode);
    if (owner === undefined) return [];
    return [
      {
        pid: owner.pid,
        fd: owner.fd,
        socket: Number(socket.inode),
        family: socket.family,
        protocol: socket.protocol,
        local_address: socket.local,
        remote_address: socket.remote,
        local_port: socket.localPort,
        remote_port: socket.remotePort,
        path: socket.path,
        state: socket.protocol === 6 ? (STATES[socket.state] ?? "") : "",
        net_namespace: /\d+/.exec(namespace)?.[0] ?? "",
      },
    ];
  });
}

async function otherPorts(): Promise<TableRow[]> {
  return (await si.networkConnections())
    .filter(({ protocol, state }) => state === "LISTEN" || protocol.startsWith("udp"))
    .map(({ pid, protocol, localAddress, localPort }) => ({
      pid,
      port: Number(localPort) || 0,
      protocol: protocol.startsWith("tcp") ? 6 : 17,
      family: localAddress.includes(":") ? IPV6 : IPV4,
      address: localAddress,
      fd: -1,
      socket: -1,
      path: "",
    }));
}

const PORT_COLUMNS = {
  ...integer("pid port protocol family"),
  ...text("address"),
  ...bigint("fd socket"),
  ...text("path net_namespace"),
};

export const processTables: readonly Table[] = [
  { name: "processes", platforms: LINUX, columns: PROCESS_COLUMNS, rows: linuxProcesses },
  { name: "processes", platforms: OTHERS, columns: PROCESS_COLUMNS, rows: otherProcesses },
  { name: "listening_ports", platforms: LINUX, columns: PORT_COLUMNS, rows: linuxPorts },
  { name: "listening_ports", platforms: OTHERS, columns: PORT_COLUMNS, rows: otherPorts },
  {
    name: "process_open_sockets",
    platforms: LINUX,
    columns: {
      ...integer("pid"),
      ...bigint("fd socket"),
      ...integer("family protocol"),
      ...text("local_address remote_address"),
      ...integer("local_port remote_port"),
      ...text("path state net_namespace"),
    },
    rows: linuxOpenSockets,
  },
];

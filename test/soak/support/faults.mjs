// Loaded into a server with `node --import`: faults of its disk that a test asks for.
// SVC_FAULTS_FULL_FILE: while this file exists, every write below the data directory fails with ENOSPC.
// SVC_FAULTS_ACKNOWLEDGE_FIRST: writes of the embedded store are called done, and done 100 ms later; none is synced.
import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

const take = (name) => {
  const value = process.env[name];
  delete process.env[name];
  return value;
};
const fullFile = take("SVC_FAULTS_FULL_FILE");
const acknowledgeFirst = take("SVC_FAULTS_ACKNOWLEDGE_FIRST");
const dataDir = process.env.SVC_DATA_DIR ?? "";

const pathOf = (fd) => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
};
const isFull = (fd) => fs.existsSync(fullFile) && pathOf(fd).startsWith(dataDir);
const noSpace = () =>
  Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", errno: -28 });

const probe = await open("/dev/null");
const handles = Object.getPrototypeOf(probe);
await probe.close();
const { write, datasync } = handles;

if (fullFile) {
  handles.write = async function (...given) {
    if (isFull(this.fd)) throw noSpace();
    return write.apply(this, given);
  };
  for (const name of ["write", "writev"]) {
    const real = fs[name];
    fs[name] = (fd, ...given) => (isFull(fd) ? setImmediate(given.at(-1), noSpace(), 0) : real(fd, ...given));
  }
  syncBuiltinESMExports();
}

if (acknowledgeFirst) {
  handles.write = async function (bytes, offset, length, position) {
    if (!pathOf(this.fd).includes("journal-")) return write.call(this, bytes, offset, length, position);
    const copy = Buffer.from(bytes);
    setTimeout(() => void write.call(this, copy, offset, length, position).catch(() => {}), 100);
    return { bytesWritten: length, buffer: bytes };
  };
  handles.datasync = async function () {
    if (!pathOf(this.fd).includes("journal-")) return datasync.call(this);
  };
}

// The part of the agent that installs need.
import { InstallRunner } from "../../../src/agent/installs/runner.ts";
import { processesWith } from "../../../src/agent/isolated/marked-processes.ts";
import { ManagedAgent } from "../../../src/agent/managed.ts";
import type { Connection } from "../../../src/agent/net/connection.ts";
import { Session } from "../../../src/agent/queries/sqlite.ts";
import { Keys } from "../../../src/agent/state/keys.ts";

const hardware = {
  uuid: "11111111-2222-3333-4444-555555555555",
  serial: "S1",
  hostname: "h1",
  computerName: "h1",
  vendor: "v",
  model: "m",
  version: "",
  boardVendor: "",
  boardModel: "",
  boardVersion: "",
  boardSerial: "",
};
const log = () => {};

/** Queries see no tables of the machine. */
async function query(sql: string) {
  const session = await Session.open(new Map(), {
    hardware,
    os: {} as never,
    instanceId: "",
    agentVersion: "1",
    runsScripts: true,
    startedAt: 0,
    flags: {},
  });
  try {
    return await session.answer(sql);
  } finally {
    session.close();
  }
}

export async function installAgent(
  connection: Connection,
  serverUrl: string,
  stateDir: string,
  { runsScripts = true, signal = new AbortController().signal } = {},
) {
  const keys = await Keys.open(stateDir, serverUrl, hardware.uuid);
  const managed = new ManagedAgent({
    connection,
    keys,
    hardware,
    platform: "ubuntu",
    enrollSecret: "secret",
    stateDir,
    log,
  });
  const common = { stateDir, query, log, signal, findProcesses: processesWith };
  return { managed, runner: new InstallRunner({ ...common, runsScripts, server: managed }) };
}

/** One turn of the agent's loop. */
export async function recoverAndInstall(...args: Parameters<typeof installAgent>): Promise<void> {
  const { managed, runner } = await installAgent(...args);
  await runner.recover();
  for (const id of (await managed.config()).installs) await runner.run(id);
}

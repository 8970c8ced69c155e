// The installs of an agent in a process of its own, to be killed: SERVER_URL STATE_DIR.
import { Connection } from "../../../src/agent/net/connection.ts";
import { recoverAndInstall } from "./install-agent.ts";

const [serverUrl, stateDir] = process.argv.slice(2) as [string, string];
const connection = new Connection({ serverUrl, version: "1", pins: [] });
await recoverAndInstall(connection, serverUrl, stateDir);
await connection.close();

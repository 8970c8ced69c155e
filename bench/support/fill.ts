// Creates a data directory with enrolled hosts and their first inventory, through a real server and simulated agents.
import type { SimulationReport } from "../../src/simulator/report.ts";
import { runSimulation } from "../../src/simulator/run.ts";
import { type BenchServer, signIn, startServe } from "./serve.ts";

export const SECRET = "benchmark-enroll-secret";

export async function enrollHosts(
  server: BenchServer,
  hosts: number,
  options: { identityFile?: string; software?: number; prepared?: boolean; onEnrollment?: () => void } = {},
): Promise<SimulationReport> {
  const call = await signIn(server);
  await call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
  return runSimulation({
    serverUrl: server.url,
    enrollSecret: SECRET,
    hosts,
    softwarePerHost: options.software ?? 300,
    mode: "enroll",
    concurrency: 64,
    tls: { insecure: true },
    prepared: options.prepared ?? false,
    ...(options.onEnrollment === undefined ? {} : { onEnrollment: options.onEnrollment }),
    ...(options.identityFile === undefined ? {} : { identityFile: options.identityFile }),
  });
}

export async function fillStore(dataDir: string, hosts: number): Promise<void> {
  const server = await startServe({ dataDir });
  await enrollHosts(server, hosts);
  await server.stop();
}

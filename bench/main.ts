// `npm run bench [-- NAME [ARG...]]`: all benchmarks, or one. Benchmarks that report a ratio measure the baseline in
// the same run.
const benches: Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>> = {
  "agent-hot-path": () => import("./agent-hot-path.ts"),
  "host-lists": () => import("./host-lists.ts"),
  "first-pages": () => import("./first-pages.ts"),
  browsers: () => import("./browsers.ts"),
  exports: () => import("./exports.ts"),
  enroll: () => import("./enroll.ts"),
  agent: () => import("./agent.ts"),
  agents: () => import("./agents.ts"),
  "live-query": () => import("./live-query.ts"),
  start: () => import("./start.ts"),
  client: () => import("./client.ts"),
  commands: () => import("./commands.ts"),
  footprint: () => import("./footprint.ts"),
  backup: () => import("./backup.ts"),
  carve: () => import("./carve.ts"),
  uploads: () => import("./uploads.ts"),
  inventory: () => import("./inventory.ts"),
  policies: () => import("./policies.ts"),
  activities: () => import("./activities.ts"),
  bulk: () => import("./bulk.ts"),
  plan: () => import("./plan.ts"),
  configuration: () => import("./configuration.ts"),
  profiles: () => import("./profiles.ts"),
  "profile-filters": () => import("./profile-filters.ts"),
  "apple-enroll": () => import("./apple-enroll.ts"),
  software: () => import("./software.ts"),
  vulnerabilities: () => import("./vulnerabilities.ts"),
  "vulnerability-import": () => import("./vulnerability-import.ts"),
  "vulnerability-matching": () => import("./vulnerability-matching.ts"),
  "vulnerability-pairs": () => import("./vulnerability-pairs.ts"),
  "vulnerability-agents": () => import("./vulnerability-agents.ts"),
  "apple-idle": () => import("./apple-idle.ts"),
  "windows-idle": () => import("./windows-idle.ts"),
  bootstrap: () => import("./bootstrap.ts"),
  scripts: () => import("./scripts.ts"),
  packages: () => import("./packages.ts"),
  strangers: () => import("./strangers.ts"),
};

const [name, ...args] = process.argv.slice(2);
if (name !== undefined && !(name in benches)) {
  console.error(`no benchmark ${name}; there are: ${Object.keys(benches).join(", ")}`);
  process.exit(2);
}
for (const [key, load] of Object.entries(benches)) {
  if (name !== undefined && key !== name) continue;
  console.log(`\n== ${key}`);
  await (await load()).run(args);
}
process.exit(0);

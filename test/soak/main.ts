// `npm run test:soak -- NAME [--key value ...]`: tests that take minutes to hours. Exit code 1 if one fails.
export type SoakArgs = Readonly<Record<string, string>>;
/** Resolves with a one-line summary; throws if the test fails. */
type Soak = (args: SoakArgs) => Promise<string>;

const soaks: Record<string, () => Promise<{ run: Soak }>> = {
  "store-kill": () => import("./store-kill.ts"),
  "store-power-cut": () => import("./store-power-cut.ts"),
  "store-differential": () => import("./store-differential.ts"),
  "agent-kill": () => import("./agent-kill.ts"),
  "queue-kill": () => import("./queue-kill.ts"),
  "agent-fuzz": () => import("./agent-fuzz.ts"),
  "api-fuzz": () => import("./api-fuzz.ts"),
  load: () => import("./load.ts"),
  "serve-kill": () => import("./serve-kill.ts"),
  "login-storm": () => import("./login-storm.ts"),
  stampede: () => import("./stampede.ts"),
  "disk-full": () => import("./disk-full.ts"),
  "postgres-restart": () => import("./postgres-restart.ts"),
  "postgres-freeze": () => import("./postgres-freeze.ts"),
  restarts: () => import("./restarts.ts"),
  takeover: () => import("./takeover.ts"),
  "apple-devices": () => import("./apple-devices.ts"),
  "windows-devices": () => import("./windows-devices.ts"),
  "apple-fuzz": () => import("./apple-fuzz.ts"),
  "several-servers": () => import("./several-servers.ts"),
  outbox: () => import("./outbox.ts"),
  gitops: () => import("./gitops.ts"),
  configuration: () => import("./configuration.ts"),
  packages: () => import("./packages.ts"),
};

const [name, ...rest] = process.argv.slice(2);
const args = Object.fromEntries(
  rest.flatMap((word, i) =>
    word.startsWith("--") ? [[word.slice(2), rest[i + 1]?.startsWith("--") === false ? rest[i + 1]! : "true"]] : [],
  ),
);
if (name !== undefined && !(name in soaks)) {
  console.error(`no soak test ${name}; there are: ${Object.keys(soaks).join(", ")}`);
  process.exit(2);
}
let failures = 0;
for (const [key, load] of Object.entries(soaks)) {
  if (name !== undefined && key !== name) continue;
  const started = Date.now();
  try {
    const summary = await (await load()).run(args);
    console.log(`ok   ${key} (${Math.round((Date.now() - started) / 1000)} s): ${summary}`);
  } catch (error) {
    failures++;
    console.error(`FAIL ${key}:`, error);
  }
}
process.exit(failures === 0 ? 0 : 1);

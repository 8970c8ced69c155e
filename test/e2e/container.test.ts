// The example container image, as far as it can be tested without a container engine: the files that it copies exist,
// the build stage can build from them, the last stage can start, and the health check distinguishes a healthy server
// from one that is down.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readSettings } from "../../src/server/platform/core/settings/sources.ts";
import { readBucketUrl } from "../../src/server/platform/store/blobs/bucket-url.ts";
import { root } from "../support/cli.ts";
import { type Copy, copiesOf, instructionOf, readDockerfile, type Stage } from "../support/dockerfile.ts";
import { freePort } from "../support/free-port.ts";
import { build, newFolder, serve } from "./support/svc.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const stages = readDockerfile(read("examples/Dockerfile"));
const image = stages.at(-1)!;
const isInContext = ({ from }: Copy) => from === null;

beforeAll(build);

/** Copies as Docker does: the contents of a folder are copied into a target folder. */
function copy({ sources, target }: Copy, from: string, into: string): void {
  const isFolder = target.endsWith("/") || sources.length > 1;
  for (const source of sources)
    cpSync(join(from, source), isFolder ? join(into, target, basename(source)) : join(into, target), {
      recursive: true,
    });
}

describe("examples/Dockerfile", () => {
  it("uses one base image for all stages, with a Node version that svc supports", () => {
    expect(new Set(stages.map(({ base }) => base))).toEqual(new Set(["node:24-slim"]));
    expect(stages.map(({ name }) => name)).toEqual(["build", "dependencies", "2"]);
  });

  it("copies files that exist and that its .dockerignore includes", () => {
    const [everything, ...allowed] = read("examples/Dockerfile.dockerignore")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    expect(everything).toBe("*");
    const sources = stages.flatMap((stage) =>
      copiesOf(stage)
        .filter(isInContext)
        .flatMap((one) => one.sources),
    );
    expect(sources.length).toBeGreaterThan(6);
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
    expect([...new Set(sources.map((source) => `!${source}`))].sort()).toEqual([...allowed].sort());
  });

  it("produces an image that starts from the files that its stages copied", () => {
    const folders = new Map<string, string>();
    const make = (stage: Stage) => {
      const folder = newFolder();
      folders.set(`${stage.name}`, folder);
      // What `npm ci` would install, and no other files of the checkout.
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
      for (const one of copiesOf(stage).filter(isInContext)) copy(one, root, folder);
      return folder;
    };
    const source = make(stages[0]!);
    expect(instructionOf(stages[0]!, "RUN")).toBe("npm run build");
    const built = spawnSync("npm", ["run", "build"], { cwd: source, encoding: "utf8" });
    expect(built.status, built.stdout + built.stderr).toBe(0);
    make(stages[1]!);

    const app = newFolder();
    mkdirSync(join(app, "bin"));
    for (const one of copiesOf(image)) {
      const from = { build: "/src/", dependencies: "/app/" }[one.from ?? ""]!;
      for (const path of one.sources) expect(path.startsWith(from)).toBe(true);
      const sources = one.sources.map((path) => path.slice(from.length));
      if (sources[0] === "node_modules") symlinkSync(join(root, "node_modules"), join(app, "node_modules"));
      else copy({ ...one, sources }, folders.get(one.from!)!, app);
    }
    const { version } = JSON.parse(read("package.json")) as { version: string };
    const started = spawnSync(process.execPath, [join(app, "bin/run.js"), "serve", "--help"], { encoding: "utf8" });
    expect(started).toMatchObject({ status: 0, stdout: expect.stringContaining("Run the server.") });
    const told = spawnSync(join(app, "bin/run.js"), ["--version"], { encoding: "utf8" });
    expect(told.stdout).toMatch(new RegExp(`^svc/${version} `));
  }, 300_000);

  it("runs as an unprivileged user who owns the data", () => {
    expect(instructionOf(image, "USER")).toBe("node");
    expect(instructionOf(image, "RUN")).toContain("install -d -o node -g node -m 0700 /data");
    expect(instructionOf(image, "VOLUME")).toBe("/data");
    expect(instructionOf(image, "ENV")).toContain("SVC_DATA_DIR=/data");
    expect(JSON.parse(instructionOf(image, "ENTRYPOINT")!)).toEqual(["svc"]);
    expect(JSON.parse(instructionOf(image, "CMD")!)).toEqual(["serve"]);
  });

  it.each([
    { over: "http", args: [], env: {} },
    { over: "https", args: ["--tls-self-signed"], env: { SVC_TLS_SELF_SIGNED: "true" } },
  ])("has a health check that works over $over", async ({ args, env }) => {
    const text = instructionOf(image, "HEALTHCHECK")!;
    const [program, ...words] = JSON.parse(text.slice(text.indexOf("CMD ") + 4)) as string[];
    expect(program).toBe("node");
    const server = await serve({ args });
    const check = (port: string) =>
      spawnSync(process.execPath, words, { env: { ...env, SVC_PORT: port }, encoding: "utf8" }).status;
    const { port } = new URL(server.url);
    expect(check(port)).toBe(0);
    expect(check(String(await freePort()))).toBe(1);
    await server.stop();
    expect(check(port)).toBe(1);
  });
});

describe("examples/compose.yml", () => {
  it("builds this image, and uses settings that the server has", () => {
    const { services, volumes } = parse(read("examples/compose.yml")) as {
      services: Record<string, { build?: Record<string, string>; volumes: string[] }>;
      volumes: Record<string, unknown>;
    };
    const { context = "", dockerfile = "" } = services.svc!.build!;
    expect(existsSync(join(root, "examples", context, dockerfile))).toBe(true);
    expect(services.svc!.volumes).toEqual(["data:/data"]);
    expect(Object.keys(volumes)).toContain("data");
  });

  it("can be combined with a bucket, whose address the server accepts", () => {
    const { services, volumes } = parse(read("examples/compose-bucket.yml")) as {
      services: Record<string, { environment: Record<string, string>; volumes: string[]; command: string[] }>;
      volumes: Record<string, unknown>;
    };
    const { svc, bucket } = services;
    const { blobs_url, blobs_access_key_id } = readSettings({ flags: {}, env: svc!.environment });
    expect(blobs_access_key_id).toBe(bucket!.environment.ROOT_ACCESS_KEY);
    expect(svc!.environment.SVC_BLOBS_SECRET_ACCESS_KEY).toContain("BLOBS_SECRET_ACCESS_KEY");
    const { bucket: name, endpoint } = readBucketUrl(blobs_url!);
    expect(services["bucket-folder"]!.command.at(-1)).toBe(`/buckets/${name}`);
    expect(services).toHaveProperty(new URL(endpoint!).hostname);
    expect(Object.keys(volumes)).toEqual(["buckets"]);
  });
});

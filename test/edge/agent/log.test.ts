import { createReadStream } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ResultLine } from "../../../src/server/platform/agent-protocol/lines.ts";
import { startApp } from "../../support/app.ts";
import { enroll, makeSecret, throughApp } from "./agents.ts";

const LOG = "/api/v1/qengine/log";

async function start(settings: Parameters<typeof startApp>[0] = {}) {
  const t = await startApp({ ...settings, settings: { result_log: "file", status_log: "file", ...settings.settings } });
  const send = throughApp(t);
  await makeSecret(t);
  const node_key = await enroll(send);
  const logs = join(t.services.settings.data_dir, "logs");
  return {
    t,
    logs,
    file: (name: string) => readFile(join(logs, name), "utf8"),
    /** `data` is JSON text. */
    log: (log_type: string, data: string, headers = {}) => {
      const body = `{"node_key":"${node_key}","log_type":${JSON.stringify(log_type)},"data":${data}}`;
      return send(LOG, "content-encoding" in headers ? gzipSync(body) : body, headers);
    },
  };
}

describe("log", () => {
  test("lines are in the file without a difference when the reply arrives: results and statuses separately", async () => {
    const { log, file } = await start();
    const line =
      '{"name":"pack/Global/q", "unixTime":9223372036854775807,"epoch":"0","columns":{"a":"\\u00e9 \\"}]{"}}';
    expect(await log("result", `[${line} , {"name":"b"}]`)).toMatchObject({ status: 200, text: "{}" });
    expect(await file("results.log")).toBe(`${line}\n{"name":"b"}\n`);
    expect((await log("status", '[{"severity":"0","message":"m"}]', { "content-encoding": "gzip" })).text).toBe("{}");
    expect(await file("status.log")).toBe('{"severity":"0","message":"m"}\n');
    await log("result", '[{"name":"c"}]');
    expect((await file("results.log")).split("\n")).toHaveLength(4);
  });

  test("a line with line breaks becomes one; anything that is not a JSON object is ignored", async () => {
    const { log, file, t } = await start();
    const data = '[{\n "name" : "a",\r\n "x":"\\n"}, 7, "text", [1], null, {bad}, {"name":"b"}]';
    expect((await log("result", data)).text).toBe("{}");
    const lines = (await file("results.log")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ name: "a", x: "\n" }, { name: "b" }]);
    expect(await t.services.metrics.registry.metrics()).toContain('svc_agent_bad_logs_total{reason="line"} 5');
  });

  test("data that is not an array is acknowledged and counted; an unknown type is an error", async () => {
    const { log, t } = await start();
    for (const data of ["null", "7", '"x"', '{"a":1}'])
      expect(await log("result", data)).toMatchObject({ status: 200, text: "{}" });
    expect(await t.services.metrics.registry.metrics()).toContain('svc_agent_bad_logs_total{reason="data"} 4');
    for (const type of ["", "other"]) expect((await log(type, "[]")).json).toEqual({ error: "unknown log_type" });
    expect((await log("result", '[{"a":1}')).status).toBe(400);
  });

  test("an empty batch and a batch of many thousand lines", async () => {
    const { log, file } = await start();
    expect((await log("result", "[]")).text).toBe("{}");
    const lines = Array.from({ length: 20_000 }, (_, i) => `{"name":"q","n":${i},"pad":"${"x".repeat(100)}"}`);
    expect((await log("result", `[${lines}]`)).text).toBe("{}");
    expect(await file("results.log")).toBe(`${lines.join("\n")}\n`);
  });

  test("concurrent batches are each complete in the file", async () => {
    const { log, file } = await start();
    const names = Array.from({ length: 50 }, (_, i) => i);
    await Promise.all(names.map((i) => log("result", `[{"n":${i}},{"n":${i},"second":true}]`)));
    const lines = (await file("results.log")).trimEnd().split("\n");
    expect(lines).toHaveLength(100);
    for (let i = 0; i < 100; i += 2) expect(JSON.parse(lines[i + 1]!).n).toBe(JSON.parse(lines[i]!).n);
  });

  test("while the destination fails, the agent keeps its lines; afterwards they are in the file once", async () => {
    const { log, file, logs } = await start();
    await rm(logs, { recursive: true, force: true });
    await writeFile(logs, "in the way");
    const refused = await log("result", '[{"name":"a"}]');
    expect(refused.status).toBe(413);
    expect(refused.json).toEqual({ error: expect.any(String) });
    await rm(logs);
    expect((await log("result", '[{"name":"a"}]')).text).toBe("{}");
    expect(await file("results.log")).toBe('{"name":"a"}\n');
  });

  test("files are rotated by size and compressed, and the oldest are deleted", async () => {
    const { log, logs } = await start({
      settings: { log_rotate_size: "10K", log_rotate_keep: 2, log_rotate_compress: true },
    });
    const pad = "x".repeat(4000);
    for (let i = 0; i < 12; i++) expect((await log("result", `[{"n":${i},"pad":"${pad}"}]`)).text).toBe("{}");
    expect((await readdir(logs)).sort()).toEqual(["results.log", "results.log.1.gz", "results.log.2.gz"]);
    let text = "";
    for await (const chunk of createReadStream(join(logs, "results.log.1.gz")).pipe(createGunzip())) text += chunk;
    expect(
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).n),
    ).toEqual([9, 10, 11]);
  });

  test("with the destination none, lines are accepted and dropped; listeners for results get them after they were accepted", async () => {
    const { t, log, logs } = await start({ settings: { result_log: "none", status_log: "none" } });
    const got: { id: number; lines: readonly ResultLine[] }[] = [];
    const end = t.agent.onResults((host, lines) => void got.push({ id: host.id, lines }));
    await log("result", '[{"name":"a","unixTime":12345678901234567890}]');
    await log("status", '[{"message":"m"}]');
    expect(got).toEqual([
      {
        id: 1,
        lines: [
          {
            raw: '{"name":"a","unixTime":12345678901234567890}',
            value: { name: "a", unixTime: 1.2345678901234567e19 },
          },
        ],
      },
    ]);
    end();
    t.agent.onResults(() => {
      throw new Error("a listener that fails");
    });
    expect((await log("result", '[{"name":"b"}]')).text).toBe("{}");
    expect(got).toHaveLength(1);
    await expect(readdir(logs)).rejects.toThrow();
  });

  test("listeners get nothing of refused requests", async () => {
    const { t, log, logs } = await start();
    await mkdir(logs, { recursive: true });
    await mkdir(join(logs, "results.log"));
    let calls = 0;
    t.agent.onResults(() => void calls++);
    expect((await log("result", '[{"name":"a"}]')).status).toBe(413);
    expect(calls).toBe(0);
    await chmod(logs, 0o700);
  });
});

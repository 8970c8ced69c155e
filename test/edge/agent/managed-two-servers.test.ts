// Managed agents that use another server than the administrator, on one database.

import { expect, it } from "vitest";
import { managedAgents } from "../../../src/server/certificates/host-authentication/agents.ts";
import { checkEnrollSecret, wrongSecrets } from "../../../src/server/hosts/enrollment/secret-check.ts";
import { withRunning } from "../../../src/server/platform/core/running.ts";
import { createCipher } from "../../../src/server/platform/store/cipher.ts";
import { openPostgres } from "../../../src/server/platform/store/postgres/open.ts";
import { createConfigReader } from "../../../src/server/settings/app-config/service.ts";
import { tables } from "../../../src/server/tables.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { makeTeam } from "../../support/make.ts";
import { addSecret, ManagedAgent, makeManaged, SECRET } from "../../support/managed.ts";

/** The cached managed agents of a second server. */
async function second(t: TestApp) {
  const cipher = createCipher(Buffer.alloc(32, 7));
  const url = t.databaseUrl!;
  const store = await openPostgres({ tables, url, cipher, log: t.services.log, create: true, poolSize: 4 });
  const services = withRunning({ ...t.services, store, config: await createConfigReader(store) });
  const agents = await services.running.start(services, managedAgents);
  return {
    optionsOf: (teamId: number | null) => agents.optionsOf(teamId),
    find: (key: string) => agents.find(key, { ...services, address: "" }),
    async close() {
      await agents.stop();
      await store.close();
    },
  };
}

it("lose their key on every server when the machine's stock agent enrolls into no team", async () => {
  const t = await startApp({ engine: "postgres", settings: { global_reenroll: "move" } });
  const other = await second(t);
  try {
    const team = await makeTeam(t);
    await t.patch(`/teams/${team.id}/secrets`, { secrets: [{ secret: "team-secret" }] });
    await addSecret(t);
    const agent = await new ManagedAgent(t).enroll("team-secret");
    expect((await other.find(agent.key)).teamId).toBe(team.id);
    const body = { enroll_secret: SECRET, host_identifier: agent.uuid };
    const reply = await t.raw("/api/v1/qengine/enroll", { method: "POST", body: JSON.stringify(body) });
    expect(reply.status).toBe(200);
    const isKnown = () =>
      other.find(agent.key).then(
        () => true,
        () => false,
      );
    await expect.poll(isKnown).toBe(false);
  } finally {
    await other.close();
  }
});

it("are notified of a lock, of its end, of new options, and of a key that became invalid", async () => {
  const t = await startApp({ engine: "postgres" });
  const other = await second(t);
  try {
    const agent = await makeManaged(t);
    const { id } = await agent.host();
    const pending = async () => (await other.find(agent.key)).next;
    expect(await pending()).toBeNull();
    await t.post(`/hosts/${id}/lock`);
    await expect.poll(pending).not.toBeNull();
    await agent.runScript();
    await expect.poll(pending).toBeNull();

    expect((await other.optionsOf(null)).command_line_flags).toBeUndefined();
    await t.patch("/config", { agent_options: { command_line_flags: { verbose: true } } });
    await expect.poll(async () => (await other.optionsOf(null)).command_line_flags).toEqual({ verbose: true });

    const old = agent.key;
    await agent.enroll();
    const isKnown = () =>
      other.find(old).then(
        () => true,
        () => false,
      );
    await expect.poll(isKnown).toBe(false);
    expect(await pending()).toBeNull();
  } finally {
    await other.close();
  }
});

it("are known with the machine that uses their key on every server", async () => {
  const t = await startApp({ engine: "postgres" });
  const other = await second(t);
  try {
    const agent = await makeManaged(t);
    const runOf = async () => (await other.find(agent.key)).run;
    expect(await runOf()).toBeNull();
    for (const run of ["first", "second"]) {
      await agent.call("/config", { agent_machine: { run, hardware_uuid: agent.uuid } });
      await expect.poll(runOf).toBe(run);
    }
  } finally {
    await other.close();
  }
});

it("are refused after 20 wrong secrets in a minute, whichever server got them", async () => {
  const t = await startApp({ engine: "postgres" });
  const store = await openPostgres({
    tables,
    url: t.databaseUrl!,
    cipher: createCipher(Buffer.alloc(32, 7)),
    log: t.services.log,
    create: true,
    poolSize: 4,
  });
  try {
    const servers = [t.services, withRunning({ ...t.services, store })];
    const waits = (await Promise.all(
      Array.from({ length: wrongSecrets.max + 10 }, (_, i) =>
        checkEnrollSecret(servers[i % 2]!, "wrong", { address: "203.0.113.7" }),
      ),
    )) as { wait: number }[];
    expect(waits.filter(({ wait }) => wait === 0).length).toBe(wrongSecrets.max);
    for (const server of servers) {
      expect(await checkEnrollSecret(server, "wrong", { address: "203.0.113.7" })).toEqual({
        wait: expect.any(Number),
      });
      expect(await checkEnrollSecret(server, "wrong", { address: "203.0.113.8" })).toEqual({ wait: 0 });
    }
    await addSecret(t);
    for (const server of servers)
      expect(await checkEnrollSecret(server, SECRET, { address: "203.0.113.7" })).toMatchObject({ teamId: null });
  } finally {
    await store.close();
  }
});

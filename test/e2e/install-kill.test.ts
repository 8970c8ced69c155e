// kill -9 of the server around each step of an installation: it is neither lost nor done twice.
import { FormData } from "undici";
import { beforeAll, expect, it } from "vitest";
import { signIn } from "../soak/apple-devices.ts";
import { Bed } from "../soak/support/bed.ts";
import { killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

const SECRET = "secret-of-installs";
interface Notification {
  readonly notifications: { readonly pending_software_installer_ids?: readonly string[] };
}
interface ListedInstalls {
  readonly activities: readonly { readonly type: string; readonly details: { readonly install_uuid?: string } }[];
}

it.each(killedEngines)(
  "installs once (%s)",
  async (engine) => {
    const bed = await Bed.make({ engine });
    const reach = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const reply = await fetch(`${bed.url}/api/v1/svc/agent${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const text = await reply.text();
      return { status: reply.status, text };
    };
    /** Sends, kills the server after this time, and starts it again. */
    const killedDuring = async (work: () => Promise<unknown>, ms: number) => {
      const { process } = bed.alive;
      const sent = work().catch(() => null);
      await new Promise((resolve) => setTimeout(resolve, ms));
      const ended = new Promise((resolve) => process.once("exit", resolve));
      process.kill("SIGKILL");
      await ended;
      await sent;
      await bed.start();
    };
    try {
      await bed.start();
      const api = await signIn(bed);
      await api.call("POST", "/spec/enroll_secret", { spec: { secrets: [{ secret: SECRET }] } });
      const form = new FormData();
      form.set("software", new File(["#!/bin/sh\necho installed\n"], "tool.sh"));
      const uploaded = (await api.call("POST", "/software/package", form)) as {
        software_package: { title_id: number };
      };
      const { title_id } = uploaded.software_package;
      const enrolled = await reach("/enroll", { enroll_secret: SECRET, hardware_uuid: "M-1", platform: "ubuntu" });
      const { agent_node_key } = JSON.parse(enrolled.text) as { agent_node_key: string };
      const call = (path: string, body: object = {}) => reach(path, { agent_node_key, ...body });
      const { host } = (await api.call("GET", "/hosts/identifier/M-1")) as { host: { id: number } };
      const pending = async () =>
        (JSON.parse((await call("/config")).text) as Notification).notifications.pending_software_installer_ids ?? [];
      const result = { install_script_exit_code: 0, install_script_output: "done" };
      const times = [0, 10];
      for (const ms of times) {
        await api.call("POST", `/hosts/${host.id}/software/${title_id}/install`);
        await killedDuring(pending, ms);
        const [install_uuid] = await pending();
        expect(install_uuid, "what was acknowledged is not lost").toBeDefined();
        await killedDuring(() => call("/software_install/details", { install_uuid }), ms);
        expect((await call("/software_install/details", { install_uuid })).status).toBe(200);
        await killedDuring(() => call("/software_install/result", { install_uuid, ...result }), ms);
        // Agents that got no reply send the result again.
        expect((await call("/software_install/result", { install_uuid, ...result })).status).toBe(204);
        expect(await pending()).toEqual([]);
        expect(await api.call("GET", `/software/install/${install_uuid}/results`)).toMatchObject({
          status: "installed",
        });
      }
      const { activities } = (await api.call("GET", `/hosts/${host.id}/activities?per_page=100`)) as ListedInstalls;
      const installed = activities.filter(({ type }) => type === "installed_software");
      expect(installed).toHaveLength(times.length);
      expect(new Set(installed.map(({ details }) => details.install_uuid)).size).toBe(times.length);
      await bed.stop();
      await bed.dbCheck();
    } finally {
      await bed.dispose();
    }
  },
  600_000,
);

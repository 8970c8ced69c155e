// kill -9 of the server around each step of a host's setup: nothing is left out, and nothing is done twice.
import { FormData } from "undici";
import { beforeAll, expect, it } from "vitest";
import { signIn } from "../soak/apple-devices.ts";
import { Bed } from "../soak/support/bed.ts";
import { killedEngines } from "../support/engines.ts";
import { build } from "./support/svc.ts";

beforeAll(build);

const SECRET = "secret-of-setups";
interface Notification {
  readonly notifications: {
    readonly run_setup_experience?: boolean;
    readonly pending_software_installer_ids?: readonly string[];
    readonly pending_script_execution_ids?: readonly string[];
  };
}
interface ListedInstalls {
  readonly activities: readonly { readonly type: string }[];
}

it.each(killedEngines)(
  "does each item once (%s)",
  async (engine) => {
    const bed = await Bed.make({ engine });
    const reach = async (path: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${bed.url}/api/v1/svc/agent${path}`, init)).text();
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
      const ids: number[] = [];
      for (const name of ["a.sh", "b.sh"]) {
        const form = new FormData();
        form.set("software", new File(["#!/bin/sh\necho installed\n"], name));
        const made = (await api.call("POST", "/software/package", form)) as { software_package: { title_id: number } };
        ids.push(made.software_package.title_id);
      }
      await api.call("PUT", "/setup_experience/software", { platform: "linux", software_title_ids: ids });
      const script = new FormData();
      script.set("script", new File(["echo setup"], "setup.sh"));
      await api.call("POST", "/setup_experience/script", script);

      const enrolled = await reach("/enroll", { enroll_secret: SECRET, hardware_uuid: "M-1", platform: "ubuntu" });
      const { agent_node_key } = JSON.parse(enrolled) as { agent_node_key: string };
      const call = (path: string, body: object = {}) => reach(path, { agent_node_key, ...body });
      const notified = async () => (JSON.parse(await call("/config")) as Notification).notifications;
      await killedDuring(() => call("/setup_experience/init"), 0);
      expect((await notified()).run_setup_experience, "a setup that is due survives").toBe(true);
      const result = { install_script_exit_code: 0, install_script_output: "done" };
      for (const ms of [0, 10]) {
        await killedDuring(() => call("/setup_experience/status"), ms);
        await call("/setup_experience/status");
        const [install_uuid, ...more] = (await notified()).pending_software_installer_ids ?? [];
        expect([install_uuid, more]).toEqual([expect.any(String), []]);
        await call("/software_install/details", { install_uuid });
        await killedDuring(() => call("/software_install/result", { install_uuid, ...result }), ms);
        await call("/software_install/result", { install_uuid, ...result });
      }
      await killedDuring(() => call("/setup_experience/status"), 10);
      await call("/setup_experience/status");
      const [execution_id] = (await notified()).pending_script_execution_ids ?? [];
      await call("/scripts/request", { execution_id });
      await call("/scripts/result", { execution_id, output: "done", runtime: 1, exit_code: 0 });
      await killedDuring(() => call("/setup_experience/status"), 10);
      await call("/setup_experience/status");
      expect(await notified()).toEqual({});
      const { host } = (await api.call("GET", "/hosts/identifier/M-1")) as { host: { id: number } };
      expect(await api.call("GET", `/hosts/${host.id}/setup_experience`)).toMatchObject({
        setup_experience: {
          status: "success",
          software: [{ status: "success" }, { status: "success" }],
          script: { status: "success" },
        },
      });
      const { activities } = (await api.call("GET", `/hosts/${host.id}/activities?per_page=100`)) as ListedInstalls;
      const done = activities.map(({ type }) => type).filter((type) => /^(installed_software|ran_script)$/.test(type));
      expect(done).toEqual(["ran_script", "installed_software", "installed_software"]);
      await bed.stop();
      await bed.dbCheck();
    } finally {
      await bed.dispose();
    }
  },
  600_000,
);

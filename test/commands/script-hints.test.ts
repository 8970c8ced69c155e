// What commands for scripts say next: where other scripts are, and which hosts failed.
import { expect, it } from "vitest";
import { sendInto } from "../support/cli.ts";
import { startFleet } from "../support/fleet.ts";

const RUN = "6b1d2f1e-0d1c-4c7d-9b1e-000000000002";

it("empty lists of scripts and runs say that only hosts without a team were meant", async () => {
  const fleet = await startFleet();
  for (const list of [
    ["scripts", "list"],
    ["scripts", "batch", "list"],
  ]) {
    const hint = "none found for hosts without a team; --team TEAM lists those of a team\n";
    expect(await fleet.run(list)).toMatchObject({ exitCode: 0, stdout: "", stderr: hint });
    expect((await fleet.run([...list, "--team", "Lab"])).stderr).toBe("none found\n");
    expect(await fleet.run([...list, "-o", "json"])).toMatchObject({ stdout: "[]\n", stderr: "" });
  }
});

it("a run that failed on some hosts names the command that shows them", async () => {
  const fleet = await startFleet();
  const counts = { pending_host_count: 0, incompatible_host_count: 0, canceled_host_count: 0 };
  const batch = {
    ...counts,
    script_id: 1,
    script_name: "tidy.sh",
    batch_execution_id: RUN,
    team_id: null,
    not_before: null,
    started_at: fleet.app.clock.iso(),
    finished_at: fleet.app.clock.iso(),
    created_at: fleet.app.clock.iso(),
    status: "finished",
    canceled: false,
    targeted_host_count: 16,
    ran_host_count: 12,
    errored_host_count: 4,
  };
  const server = sendInto(fleet.app);
  const { exitCode, stderr } = await fleet.run(["scripts", "batch", "get", RUN, "--wait"], {
    send: (url, init) => (url.includes(RUN) ? Response.json(batch) : server(url, init)),
  });
  expect(exitCode).toBe(6);
  expect(stderr).toContain("the script did not succeed on 4 of 16 hosts\n");
  expect(stderr).toContain(`\`svc scripts batch hosts ${RUN} --status errored\``);
});

// The environment of generated requests: callers of every kind, and objects of every kind, created again each time.
import type { ServerStore } from "../../src/server/platform/core/tables.ts";
import type { TestApp } from "./app.ts";
import type { FuzzTarget } from "./fuzz-run.ts";
import { makeHost, makeInventory, makeLabel, makeSoftware, makeTeam, makeUser } from "./make.ts";

type Maker = Pick<TestApp, "store" | "clock" | "as">;

export function fuzzWorld(t: Maker): Pick<FuzzTarget, "tokens" | "ids"> {
  let round = 0;
  return {
    async tokens() {
      const team = await makeTeam(t, `fuzz team ${++round}`);
      const app = await makeSoftware(t, "Figma", `1.${round}`);
      for (const team_id of [team.id, null]) {
        const host = await makeHost(t, { team_id });
        await makeInventory(t, host.id, [app]);
        await makeLabel(t, `label ${host.id}`, [host.id]);
      }
      const token = async (...given: Parameters<typeof makeUser> extends [unknown, ...infer R] ? R : never) =>
        (await makeUser(t, ...given)).token;
      return {
        admin: await token("admin"),
        maintainer: await token("maintainer"),
        observer: await token("observer"),
        gitops: await token("gitops", { api_only: true }),
        "team admin": await token({ teams: [{ id: team.id, role: "admin" }] }),
        "team observer": await token({ teams: [{ id: team.id, role: "observer" }] }),
        "to reset": await token("admin", { force_password_reset: true }),
        nobody: null,
      };
    },
    ids: () => idsOf(t.store),
  };
}

async function idsOf({ hosts, users, teams, sessions, labels, software }: ServerStore): Promise<number[]> {
  const last = async (rows: { max(column: "id"): Promise<unknown> }) => Number((await rows.max("id")) ?? 1);
  return [1, ...(await Promise.all([hosts, users, teams, sessions, labels, software].map(last))), 99_999];
}

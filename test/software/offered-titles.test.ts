// Lists of a team's software titles with those that it offers and that are on none of its hosts, page by page.
import { describe, expect, it } from "vitest";
import { softwareCounts } from "../../src/server/software/software/counts.ts";
import { startApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { formOf } from "../support/forms.ts";
import { makeHost, makeInventory, makeSoftware, makeTeam } from "../support/make.ts";

interface Title {
  id: number;
  name: string;
  source: string;
  hosts_count: number;
  versions_count: number;
  software_package: { name: string } | null;
}
interface Titles {
  count: number;
  software_titles: Title[];
  meta: { has_next_results: boolean; has_previous_results: boolean };
}
type Order = (a: Title, b: Title) => number;

const byName: Order = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
const orders: readonly (readonly [string, Order])[] = [
  ["", (a, b) => b.hosts_count - a.hosts_count || byName(a, b)],
  ["order_key=name", byName],
  ["order_key=name&order_direction=desc", (a, b) => byName(b, a)],
  ["order_key=hosts_count", (a, b) => a.hosts_count - b.hosts_count],
  ["order_key=hosts_count&order_direction=desc", (a, b) => b.hosts_count - a.hosts_count],
];

describe.each(bothEngines)("titles of a team on %s", (engine) => {
  it("contain what it offers and no host has yet, in their place on every page", async () => {
    const t = await startApp({ engine });
    const [team, other] = [(await makeTeam(t, "Bench")).id, (await makeTeam(t, "Other")).id];
    const names = ["Atlas", "Chess", "Figma", "Maps", "Notes", "Zoom", "tool-c"];
    const versions: { id: number; title_id: number }[] = [];
    for (const name of names) versions.push(await makeSoftware(t, name, "1.0"));
    for (let i = 0; i < 3; i++)
      await makeInventory(t, (await makeHost(t, { team_id: team })).id, versions.slice(0, versions.length - 2 * i));
    await t.services.running.of(softwareCounts).flush();
    const offer = async (name: string, team_id: number) => {
      const software = new File([`#!/bin/sh\necho ${name} ${team_id}\n`], `${name}.sh`);
      expect((await t.post("/software/package", formOf({ software, team_id: String(team_id) }))).status).toBe(200);
    };
    for (const name of ["Bravo", "Notes", "aaa", "tool-c", "zzz"]) await offer(name, team);
    await offer("elsewhere", other);

    const list = async (query: string): Promise<Titles> => {
      const res = await t.get(`/software/titles?team_id=${team}&${query}`);
      expect(res.status, query).toBe(200);
      return (await res.json()) as Titles;
    };
    const whole = await list("");
    expect(whole.count).toBe(12);
    const shown = whole.software_titles.map(({ name, hosts_count }) => `${name} ${hosts_count}`);
    expect(shown.slice(7)).toEqual(["Bravo 0", "Notes 0", "aaa 0", "tool-c 0", "zzz 0"]);
    expect(whole.software_titles[7]).toMatchObject({
      versions_count: 0,
      source: "sh_packages",
      software_package: { name: "Bravo.sh" },
    });
    for (const [order, compare] of orders) {
      const { software_titles: all } = await list(order);
      expect(all.map(({ id }) => id).sort(), order).toEqual(whole.software_titles.map(({ id }) => id).sort());
      for (const [i, title] of all.entries())
        if (i > 0) expect(compare(all[i - 1]!, title), order).toBeLessThanOrEqual(0);
      for (const per_page of [1, 2, 5, 7, 12, 50]) {
        const paged: number[] = [];
        for (let page = 0; ; page++) {
          const { software_titles, count, meta } = await list(`${order}&per_page=${per_page}&page=${page}`);
          expect(count).toBe(12);
          paged.push(...software_titles.map(({ id }) => id));
          const of = `${order} ${per_page} ${page}`;
          expect(meta, of).toEqual({ has_next_results: paged.length < 12, has_previous_results: page > 0 });
          if (!meta.has_next_results) break;
        }
        expect(paged, `${order} ${per_page}`).toEqual(all.map(({ id }) => id));
      }
    }
    expect((await list("per_page=5&page=9")).software_titles).toEqual([]);
    const named = async (query: string) => (await list(query)).software_titles.map(({ name }) => name);
    expect(await named("order_key=name&after=Notes")).toEqual(["Zoom", "aaa", "tool-c", "tool-c", "zzz"]);
    expect(await named("order_key=hosts_count&order_direction=desc&after=1&per_page=2&page=1")).toHaveLength(2);
    expect(await named("query=tool")).toEqual(["tool-c", "tool-c"]);
    expect(await named("platform=windows")).toEqual([]);
    expect(await named("vulnerable=true")).toEqual([]);
    expect(await named("query=CVE-2026-0001")).toEqual([]);
    const everywhere = (await (await t.get("/software/titles?query=aaa")).json()) as Titles;
    expect(everywhere).toMatchObject({ count: 0, software_titles: [] });
  });
});

// The console: it shows only what the API would return to the same user, and does what the API would do for them.
import { describe, expect, it } from "vitest";
import { profileReconciler } from "../../../src/server/devices/profiles/part.ts";
import { sentences } from "../../../src/server/edge/web/pages/activities/sentences.ts";
import { tokenHash } from "../../../src/server/platform/core/random.ts";
import { vulnerabilityCounts } from "../../../src/server/software/software/vulnerabilities/counts.ts";
import { makeUser, PASSWORD } from "../../support/accounts.ts";
import { ADMIN, startApp, type TestApp } from "../../support/app.ts";
import { turnOnAppleMdm } from "../../support/apple.ts";
import { enrolledDevice } from "../../support/apple-device.ts";
import { rulesEngines } from "../../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makePolicy,
  makeResults,
  makeSoftware,
  makeTeam,
  makeVulnerabilities,
} from "../../support/make.ts";
import { appleCommand, makeManagedMac } from "../../support/profiles.ts";
import { WebVisitor } from "../../support/web.ts";

async function visit(t: TestApp, email = ADMIN.email, password = ADMIN.password): Promise<WebVisitor> {
  const visitor = new WebVisitor(t);
  await visitor.signIn(email, password);
  return visitor;
}

const member = async (t: TestApp, roles: Parameters<typeof makeUser>[1]): Promise<WebVisitor> =>
  visit(t, (await makeUser(t, roles, { api_only: false })).user.email, PASSWORD);

describe.each(rulesEngines)("the console on %s", (engine) => {
  it("counts hosts by status and platform, in a chart and in a table", async () => {
    const t = await startApp({ engine });
    const [now, long] = [t.clock.iso(), new Date(t.clock.now() - 40 * 86_400_000).toISOString()];
    await makeHost(t, { platform: "darwin" }, { seen: now });
    await makeHost(t, { platform: "darwin" }, { seen: now });
    await makeHost(t, { platform: "windows", created_at: long }, { seen: long });
    const { text } = await (await visit(t)).get("/");
    expect(text).toContain('aria-label="3 hosts: 2 online, 0 offline, 1 missing"');
    expect(text).toMatch(/>Online<\/a><\/th><td class="number">2<\/td>/);
    expect(text).toMatch(/>Not seen for 30 days<\/a><\/th><td class="number">1<\/td>/);
    // The list of offline hosts has the length in the table, without those that the row below counts.
    const [, offline] = /<a href="([^"]*)">Offline<\/a><\/th><td class="number">0<\/td>/.exec(text)!;
    const { hosts } = (await (await t.get(offline!.replaceAll("&amp;", "&"))).json()) as { hosts: unknown[] };
    expect(hosts).toEqual([]);
    expect(text).toMatch(/>macOS<\/a>[\s\S]*?<td class="number">2<\/td>/);
    expect(text).toContain("<strong>Ada Admin</strong> signed in");
  });

  it("offers what can be done with a host, by its platform and state, to those who may do it", async () => {
    const t = await startApp({ engine, settings: { require_expected_count: true } });
    await turnOnAppleMdm(t);
    const { device, id } = await enrolledDevice(t, { DeviceName: "lab-mac" });
    const { id: phone } = await enrolledDevice(t, { DeviceName: "phone", ProductName: "iPhone17,1" }, { key: 1 });
    const unmanaged = await makeHost(t, { platform: "darwin" });
    const visitor = await visit(t);
    const offered = async (host: number, by = visitor) =>
      [...(await by.get(`/hosts/${host}`)).text.matchAll(/action="\/hosts\/\d+\/actions\/(\w+)"/g)].map(
        ([, name]) => name,
      );
    expect(await offered(id)).toEqual(["refetch", "lock", "unenroll", "wipe"]);
    expect(await offered(phone)).toEqual(["refetch", "lock", "clear_passcode", "unenroll", "wipe"]);
    expect(await offered(unmanaged.id)).toEqual(["refetch"]);
    const observer = await member(t, "observer");
    expect(await offered(id, observer)).toEqual(["refetch"]);
    expect((await observer.post(`/hosts/${id}/actions/lock`)).status).toBe(403);

    const locked = await visitor.post(`/hosts/${id}/actions/lock`);
    const [pin] = /\d{6}/.exec(locked.text.split("This PIN unlocks the Mac")[1]!)!;
    expect(await offered(id), "a lock is pending").toEqual(["refetch", "unenroll"]);
    const command = (await device.idle())!;
    expect(command.command.PIN).toBe(pin);
    await device.answer(command.uuid, "Acknowledged");
    expect(await offered(id)).toEqual(["refetch", "unlock", "unenroll", "wipe"]);
    expect((await visitor.post(`/hosts/${id}/actions/unlock`)).text).toContain(pin);

    const wrong = await visitor.post(`/hosts/${phone}/actions/wipe`, { name: "another" });
    expect([wrong.status, await offered(phone)]).toEqual([422, expect.arrayContaining(["wipe"])]);
    const wiped = await visitor.post(`/hosts/${phone}/actions/wipe`, { name: "phone" });
    expect([wiped.status, wiped.location]).toEqual([303, `/hosts/${phone}?done=wipe`]);
    expect((await visitor.get(wiped.location)).text).toContain("Wipe is pending.");
    expect((await visitor.post(`/hosts/${id}/actions/unenroll`)).location).toBe(`/hosts/${id}?done=unenroll`);
    expect(await offered(id)).not.toContain("unenroll");
    for (const name of ["refetch", "nothing", "constructor"])
      expect((await visitor.post(`/hosts/${id}/actions/${name}`)).status).toBe(name === "refetch" ? 303 : 404);
  });

  it("shows the commands of a managed host, page by page, to those who may see them", async () => {
    const t = await startApp({ engine });
    await turnOnAppleMdm(t);
    const mac = await makeManagedMac(t);
    for (const type of ["SecurityInfo", ...Array.from({ length: 10 }, () => "ProfileList")]) {
      t.clock.advance(1_000);
      await t.post("/commands/run", { command: appleCommand(type), host_uuids: [mac.uuid] });
    }
    const visitor = await visit(t);
    const { text } = await visitor.get(`/hosts/${mac.id}`);
    expect(text).toContain("Commands of device management for this host");
    expect(
      text.match(/<th scope="row">ProfileList<\/th>\s*<td><span class="badge note">Pending<\/span>/g),
    ).toHaveLength(10);
    expect(text).not.toContain('<th scope="row">SecurityInfo');
    expect((await visitor.get(`/hosts/${mac.id}?command_page=1`)).text).toContain('<th scope="row">SecurityInfo');
    const other = await makeHost(t, { platform: "darwin" });
    expect((await visitor.get(`/hosts/${other.id}`)).text).not.toContain("Commands of device management");
    await turnOnAppleMdm(t, false);
    expect((await visitor.get(`/hosts/${mac.id}`)).text).not.toContain("Commands of device management");
  });

  it("shows the configuration profiles of a host, failed ones first with the reason", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { platform: "darwin" });
    const row = { host_id: host.id, platform: "darwin", operation_type: "install" } as const;
    await t.store.hostProfiles.insertMany([
      { ...row, profile_uuid: "a1", name: "Wi-Fi", status: "verified" },
      { ...row, profile_uuid: "a2", name: "VPN <1>", status: "failed", detail: "no <value>" },
      { ...row, profile_uuid: "a3", name: "Old", status: null, operation_type: "remove" },
    ]);
    const { text } = await (await visit(t)).get(`/hosts/${host.id}`);
    const card = text.slice(text.indexOf('id="profiles"'), text.indexOf("</section>", text.indexOf('id="profiles"')));
    const shown = [...card.matchAll(/<th scope="row">([^<]*)|<span class="badge \w+">([^<]*)/g)];
    expect(shown.map(([, name, status]) => name ?? status)).toEqual([
      ...["VPN &lt;1&gt;", "failed", "Old", "removal pending", "Wi-Fi", "verified"],
    ]);
    expect(card).toContain("no &lt;value&gt;");
  });

  it("shows the device management of a host, with what failed", async () => {
    const t = await startApp({ engine });
    const unmanaged = await makeHost(t, { platform: "darwin" });
    await turnOnAppleMdm(t);
    const { id } = await enrolledDevice(t);
    // What is known of updates that no setting asks for is deleted, whenever devices are compared with the settings.
    await t.patch("/config", { mdm: { macos_updates: { minimum_version: "15.2", deadline: "2026-05-01" } } });
    await t.services.running.of(profileReconciler).run();
    const report = { id, reported_at: t.clock.iso(), install_state: "downloading", pending_version: "15.2" };
    await t.store.appleUpdates.upsert([{ id, version: "15.2", deadline: "2026-05-01", is_declared: true, basis: "" }], {
      on: ["id"],
    });
    await t.store.appleUpdateReports.insert({ ...report, failure: "no <space>" });
    await t.store.hostDiskEncryption.upsert([{ id, status: "action_required", detail: "restart" }], { on: ["id"] });
    const visitor = await visit(t);
    const card = async (host: number) => {
      const { text } = await visitor.get(`/hosts/${host}`);
      const at = text.indexOf('id="management"');
      return at < 0 ? null : text.slice(at, text.indexOf("</section>", at));
    };
    const shown = await card(id);
    for (const part of [
      "On (manual)",
      "15.2 until 2026-05-01; downloading 15.2",
      "no &lt;space&gt;",
      "action required",
      "restart",
    ])
      expect(shown).toContain(part);
    expect(await card(unmanaged.id)).toBeNull();
  });

  it("shows a host: details, policies with the failing first, software and its activities", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "mac", hardware_serial: "C02XY", memory: 16 * 2 ** 30 });
    const [good, bad] = [
      await makePolicy(t, { name: "Firewall" }),
      await makePolicy(t, { name: "Disk", resolution: "Turn it on" }),
    ];
    await makeResults(t, host.id, { passing: [good], failing: [bad] });
    await makeInventory(t, host.id, [await makeSoftware(t, "Firefox", "99.1")]);
    await t.store.activities.insert({
      created_at: t.clock.iso(),
      actor_full_name: "Grace",
      type: "locked_host",
      details: { host_id: host.id, host_display_name: "mac", view_pin: false },
      host_id: host.id,
    });
    const visitor = await visit(t);
    const { status, text } = await visitor.get(`/hosts/${host.id}`);
    expect(status).toBe(200);
    for (const part of ["C02XY", "16 GiB", "Turn it on", "Firefox", "99.1", "<strong>Grace</strong> locked host"])
      expect(text).toContain(part);
    expect(text.indexOf("Disk")).toBeLessThan(text.indexOf("Firewall"));
    for (const path of ["/hosts/999", "/hosts/abc", "/hosts/0", "/hosts/-1", "/hosts/99999999999999999999"])
      expect((await visitor.get(path)).status, path).toBeGreaterThanOrEqual(400);
    expect((await visitor.get("/hosts/999")).text).toContain("Not found");
  });

  it("shows team users their teams' hosts only", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Secret")];
    const mine = await makeHost(t, { hostname: "mine", team_id: own.id }, { seen: t.clock.iso() });
    const theirs = await makeHost(t, { hostname: "theirs", team_id: other.id });
    const nobodys = await makeHost(t, { hostname: "nobodys" });
    const visitor = await member(t, { [own.id]: "observer" });
    const { text } = await visitor.get("/");
    expect(text).toContain('aria-label="1 host: 1 online, 0 offline, 0 missing"');
    expect(text).not.toContain("Secret");
    expect(text).not.toContain("Latest activity");
    expect((await visitor.get(`/hosts/${mine.id}`)).status).toBe(200);
    for (const { id } of [theirs, nobodys]) {
      const seen = await visitor.get(`/hosts/${id}`);
      expect([403, 404]).toContain(seen.status);
      expect(seen.text).not.toContain("theirs");
      expect(seen.text).not.toContain("nobodys");
    }
    const feed = await visitor.get("/activities");
    expect(feed.status).toBe(403);
    expect(feed.text).not.toContain("Ada Admin");
  });

  it("lets a role without access to hosts see its account", async () => {
    const t = await startApp({ engine });
    const { user } = await makeUser(t, "gitops", { api_only: true });
    await t.store.users.update({ where: { op: "eq", column: "id", value: user.id }, set: { api_only: false } });
    const visitor = await visit(t, user.email, PASSWORD);
    const { status, text } = await visitor.get("/");
    expect(status).toBe(200);
    expect(text).toContain("does not allow you to see hosts");
    expect(text).not.toContain('href="/hosts"');
    expect((await visitor.get("/profile")).status).toBe(200);
  });

  it("works on the free tier, without teams", async () => {
    const t = await startApp({ engine, tier: "free" });
    await makeHost(t, { hostname: "mac" });
    const visitor = await visit(t);
    for (const path of ["/", "/hosts", "/hosts/1", "/activities", "/vulnerabilities", "/profile"]) {
      const { status, text } = await visitor.get(path);
      expect(status, path).toBe(200);
      expect(text).not.toContain('name="team_id"');
    }
  });

  it("shows whether the user of a host may sign in to other services", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, {});
    const visitor = await visit(t);
    expect((await visitor.get(`/hosts/${host.id}`)).text).not.toContain("Conditional access");
    await t.store.directoryDevices.insert({
      host_id: host.id,
      device_id: "99999999-0000-4000-8000-000000000000",
      updated_at: t.clock.iso(),
      last_error: "<b>no</b>",
    });
    const { text } = await visitor.get(`/hosts/${host.id}`);
    for (const part of ["Conditional access", "99999999-0000-4000-8000-000000000000", "unreported", "&lt;b>no"])
      expect(text.replaceAll("&gt;", ">")).toContain(part);
  });

  it("lists vulnerabilities, with links to their hosts", async () => {
    const t = await startApp({ engine });
    const [own, other] = [await makeTeam(t, "Own"), await makeTeam(t, "Other")];
    const [app, secret] = [await makeSoftware(t, "App", "1.0"), await makeSoftware(t, "Secret", "1.0")];
    await makeInventory(t, (await makeHost(t, { team_id: own.id })).id, [app]);
    await makeInventory(t, (await makeHost(t, { team_id: other.id })).id, [app, secret]);
    await makeVulnerabilities(t, { software: app.id, cves: ["CVE-2026-0001"], known: { cvss_score: 9.8 } });
    await makeVulnerabilities(t, { software: secret.id, cves: ["CVE-2026-0002"] });
    await t.services.running.of(vulnerabilityCounts).flush();
    const visitor = await visit(t);
    const { status, text } = await visitor.get("/vulnerabilities?order_key=cvss_score&order_direction=desc");
    expect(status).toBe(200);
    expect(text).toContain("CVE-2026-0002");
    expect(text).toContain("/hosts?vulnerability=CVE-2026-0001");
    expect(text).toContain('aria-sort="descending"');
    expect((await visitor.get("/vulnerabilities?query=CVE-2030")).text).toContain("No vulnerabilities found.");
    expect((await visitor.get("/vulnerabilities?order_key=nonsense")).status).toBe(400);
  });

  it("filters the feed, and shows details", async () => {
    const t = await startApp({ engine });
    await makeUser(t, "observer", { name: "Olga Observer" });
    const visitor = await visit(t);
    const all = (await visitor.get("/activities")).text;
    expect(all).toContain("created user <em>Olga Observer</em>");
    const some = (await visitor.get("/activities?activity_type=user_logged_in&query=ada")).text;
    expect(some).toContain("signed in");
    expect(some).not.toContain("Olga");
    expect((await visitor.get("/activities?query=nobody-at-all")).text).toContain("No activities found.");
  });

  it("shows activities as sentences, whatever their type and details", async () => {
    const t = await startApp({ engine });
    const add = (type: string, details: Record<string, unknown> | null) =>
      t.store.activities.insert({ created_at: t.clock.iso(), actor_full_name: "Grace", type, details });
    await add("changed_user_team_role", { user_name: "Olga", role: "observer", team_name: "Desktops", team_id: 1 });
    await add("transferred_hosts", { team_name: "Servers", host_ids: [1, 2], host_display_names: ["a", "b"] });
    await add("created_policy", { policy_name: "Disk", team_name: "Servers" });
    await add("edited_macos_min_version", { team_name: "Servers" });
    await add("deleted_host", { host_id: 7, host_display_name: "gone" });
    await add("constructor", null);
    const host = { host_id: 3, host_display_name: "lab-1" };
    const title = { ...host, software_title: "setupw1", self_service: false };
    for (const status of ["installed", "failed_install", "pending_install"])
      await add("installed_software", { ...title, status, policy_name: status === "installed" ? "Patch" : null });
    for (const status of ["uninstalled", "failed_uninstall"]) await add("uninstalled_software", { ...title, status });
    await t.store.activities.insert({
      created_at: t.clock.iso(),
      type: "installed_software",
      details: { ...title, status: "installed", self_service: true },
    });
    await add("edited_software", { software_title: "setupw1", software_display_name: "Writer", team_name: "Servers" });
    await add("added_software", { software_title: "setupw1", team_name: null });
    await add("canceled_install_software", { ...title, software_title_id: 4 });
    await add("retrieved_host_my_device_url", host);
    await add("transferred_hosts", { team_name: null, host_ids: [1], host_display_names: ["a"] });
    await add("ran_script", { ...host, script_name: "" });
    await add("live_query", { targets_count: "many" });
    const { status, text } = await (await visit(t)).get("/activities");
    expect(status).toBe(200);
    for (const sentence of [
      "assigned the role observer on <em>Desktops</em> to <em>Olga</em>",
      "moved 2 hosts to <em>Servers</em>",
      "created policy <em>Disk</em> in the team <em>Servers</em>",
      "removed the minimum version of macOS for the team <em>Servers</em>",
      'installed software <em>setupw1</em> on <a href="/hosts/3">lab-1</a> for the policy <em>Patch</em><time',
      '</strong> failed to install software <em>setupw1</em> on <a href="/hosts/3">lab-1</a><time',
      '</strong> requested the installation of software <em>setupw1</em> on <a href="/hosts/3">lab-1</a><time',
      '</strong> uninstalled software <em>setupw1</em> on <a href="/hosts/3">lab-1</a><time',
      '</strong> failed to uninstall software <em>setupw1</em> on <a href="/hosts/3">lab-1</a><time',
      '<strong>The user of <a href="/hosts/3">lab-1</a></strong> installed software <em>setupw1</em><time',
      "edited software <em>setupw1</em> in the team <em>Servers</em><time",
      "added software <em>setupw1</em><time",
      'cancelled the installation of <em>setupw1</em> on <a href="/hosts/3">lab-1</a>',
      'retrieved the link to the device page of <a href="/hosts/3">lab-1</a>',
      "moved 1 host out of their team<time",
      'ran a script on <a href="/hosts/3">lab-1</a>',
      "deleted host <em>gone</em>",
      "</strong> constructor<time",
      "ran a live query on 0 hosts",
    ])
      expect(text).toContain(sentence);
  });

  it("has a whole sentence for each type, whether or not its details are there", async () => {
    const t = await startApp({ engine });
    const types = Object.keys(sentences);
    const all = {
      ...{ host_id: 3, host_display_name: "lab-1", team_name: "[T]", user_name: "{U}", software_title: "S" },
      ...{ policy_name: "P", role: "admin", minimum_version: "26", deadline: "2027-01-01", host_count: 2, teams: [1] },
    };
    await t.store.activities.insertMany(
      types.flatMap((type) => [all, {}].map((details) => ({ created_at: t.clock.iso(), type, details }))),
    );
    const visitor = await visit(t);
    const said: string[] = [];
    for (let page = 0; page * 50 < types.length * 2 + 1; page++)
      for (const [, one] of (await visitor.get(`/activities?page=${page}`)).text.matchAll(
        /<li><strong>(?:Somebody|The user of .*?)<\/strong> (.*?)<time/g,
      ))
        said.push(one!.replaceAll("[T]", "T").replaceAll("{U}", "U"));
    expect(said).toHaveLength(types.length * 2);
    for (const one of said) expect(one).toMatch(/^[a-z][^[\]{}]*$/);
    expect(said.join()).not.toMatch(/undefined|null|NaN/);
  });

  it("leads back to the page of a form that failed", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { platform: "darwin" });
    const visitor = await visit(t);
    await visitor.get(`/hosts/${host.id}`);
    const failed = await visitor.post(`/hosts/${host.id}/actions/wipe`, { name: "another" });
    expect(failed.status).toBe(422);
    expect(failed.text).toContain(`<a class="button" href="/hosts/${host.id}">Back</a>`);
    const twisted = await visitor.post("/hosts/1%22%3Ex/actions/wipe", { name: "another" });
    expect(twisted.status).toBeGreaterThanOrEqual(400);
    expect(twisted.text).toContain('<a class="button" href="/hosts/1%22%3Ex">Back</a>');
    expect((await visitor.get("/hosts/99")).text, "no form").not.toContain(">Back</a>");
    await visitor.post("/logout");
    const ended = await visitor.postRaw(`/hosts/${host.id}/actions/refetch`, {});
    expect(ended.location).toBe(`/login?next=${encodeURIComponent(`/hosts/${host.id}`)}`);
  });

  it("shows a host to its user with the token of its page, until the token expires", async () => {
    const t = await startApp({ engine });
    const host = await makeHost(t, { hostname: "mac" }, { seen: t.clock.iso() });
    const policy = await makePolicy(t, { name: "Disk", query: "SELECT secret_of_admins", resolution: "Turn it on" });
    await makeResults(t, host.id, { failing: [policy] });
    await makeInventory(t, host.id, [await makeSoftware(t, "Firefox", "99.1")]);
    const token = "0d1e2f30-1111-4222-8333-444455556666";
    await t.store.deviceTokens.insert({ id: host.id, token_hash: tokenHash(token), updated_at: t.clock.iso() });
    const visitor = new WebVisitor(t);
    const { status, text } = await visitor.get(`/device/${token}`);
    expect(status).toBe(200);
    for (const part of ["mac", "Turn it on", "Firefox", "failing"]) expect(text).toContain(part);
    expect(text).not.toContain("secret_of_admins");
    const asked = await visitor.post(`/device/${token}/refetch`);
    expect([asked.status, asked.location]).toEqual([303, `/device/${token}?status=asked`]);
    expect((await t.store.hosts.get(host.id))!.refetch_requested).toBe(true);
    expect((await visitor.postRaw(`/device/${token}/refetch`, {})).status).toBe(403);

    for (const wrong of ["wrong", "0d1e2f30", "%20", "a".repeat(300)]) {
      const seen = await visitor.get(`/device/${wrong}`);
      expect(seen.status, wrong).toBeGreaterThanOrEqual(400);
      expect(seen.status).toBeLessThan(500);
      expect(seen.text).not.toContain("Firefox");
    }
    t.clock.advance(3_600_001);
    expect((await visitor.get(`/device/${token}`)).status).toBe(401);
  });

  it("blocks an address that tries tokens of hosts, like the API and with the same count", async () => {
    const t = await startApp({ engine });
    const visitor = new WebVisitor(t);
    for (let i = 0; i < 700; i++) await t.as(null).get(`/device/wrong-${i}`);
    for (let i = 0; i < 20; i++) expect((await visitor.get(`/device/wrong-${i}`)).status).toBe(401);
    const seen = await visitor.get("/device/wrong-again");
    expect(seen.status).toBe(429);
    expect(Number(seen.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

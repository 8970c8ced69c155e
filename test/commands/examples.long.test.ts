// Every example in the help of a client command, run unchanged with the real app.
import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { fullPath } from "../../src/api/paths.ts";
import { isDestructive } from "../../src/cli/help/help.ts";
import { sourceCommands } from "../../src/cli/run/source-config.ts";
import type { Send } from "../../src/client/transport.ts";
import { newKey } from "../../src/pki/x509.ts";
import { settleBatches } from "../../src/server/delivery/scripts/batches/carry-out.ts";
import { installResult } from "../../src/server/delivery/software-installs/agent.ts";
import { uploadPushCertificate } from "../../src/server/devices/apple/trust/service.ts";
import { profileReconciler } from "../../src/server/devices/profiles/part.ts";
import { answerOperation } from "../../src/server/hosts/operations/queue.ts";
import { days, isoAt } from "../../src/server/platform/core/clock.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import { linkPaths } from "../../src/server/platform/mail/mail.ts";
import { issueToken } from "../../src/server/platform/mail/one-time.ts";
import { newRow } from "../../src/server/platform/outbox/service.ts";
import { eq, everything, isNull } from "../../src/server/platform/store/query.ts";
import { vulnerabilityCounts } from "../../src/server/software/software/vulnerabilities/counts.ts";
import { makeSecret } from "../edge/agent/agents.ts";
import { endSignUps, startAndroid, turnAndroidOn } from "../support/android.ts";
import { enrollForPushes, makePushCertificate, setPushCertificate, startPushService } from "../support/apns.ts";
import type { TestApp } from "../support/app.ts";
import { allowEnrollment, makeMacWithPasswords, makeNamedPhone, makePhone, turnOnAppleMdm } from "../support/apple.ts";
import { makeApproval } from "../support/approvals.ts";
import { startSigning } from "../support/ca-fakes.ts";
import { makeDownloadableApp } from "../support/catalogue.ts";
import { commandsOf, root, sendInto } from "../support/cli.ts";
import { signInByBrowser } from "../support/cli-browser.ts";
import { configureProduct } from "../support/conditional-access.ts";
import { credentials, SECRET, startDirectory, TENANT } from "../support/directory.ts";
import { type Example, examplesOf, needsBinary } from "../support/examples.ts";
import { type Fleet, startFleet } from "../support/fleet.ts";
import { iconForm, png } from "../support/icons.ts";
import { ISSUER, makeSigningKey, metadataOf, SSO_USER, signedAssertion, turnOnSso } from "../support/idp.ts";
import { addVppToken, makeStoreApp, makeVppToken, startLicenseService } from "../support/license-service.ts";
import { answerLiveQueries } from "../support/live.ts";
import { makeHost, makeOperation, makeUser, makeVulnerabilities } from "../support/make.ts";
import { makePortal, PORTAL_SERVER } from "../support/portal.ts";
import {
  activation,
  appleCommand,
  asset,
  assetForm,
  declaration,
  makeProfile,
  mobileconfig,
} from "../support/profiles.ts";
import { pemOfKey, pushCertificateFor } from "../support/push-certificate.ts";
import { startReceiver } from "../support/receiver.ts";
import { mailOf } from "../support/smtp.ts";
import { eulaForm, logoForm, PNG, packageForm, xar } from "../support/xar.ts";

const config = await commandsOf(true);
const all = examplesOf(config);
const examples = all.filter(({ id }) => !needsBinary(id));
const classes = await sourceCommands(root, (file) => import(/* @vite-ignore */ file));
const claimed = (id: string) => (classes[id] as { endpoints?: readonly AnyEndpoint[] } | undefined)?.endpoints ?? [];

/** What commands call for more than one host, while those of the examples select one: see test/inventory/bulk-actions.test.ts. */
const forSeveralHosts: ReadonlySet<string> = new Set([
  ...["lock", "refetch", "unlock", "wipe"].map((action) => `hosts:${action} bulk-actions.${action}`),
  "software:install software-installs.installOnHosts",
  "software:uninstall software-installs.uninstallFromHosts",
]);

/** `COMMAND ENDPOINT` for each request of an example. */
const asked = new Set<string>();

function endpointOf(method: string, url: string): string | undefined {
  const parts = new URL(url).pathname.split("/");
  const fits = (endpoint: AnyEndpoint) => {
    const wanted = fullPath(endpoint).split("/");
    return wanted.length === parts.length && wanted.every((part, at) => part.startsWith(":") || part === parts[at]);
  };
  const found = allEndpoints.filter(({ endpoint }) => endpoint.method === method && fits(endpoint));
  // The path with fewer parameters is the right one: /hosts/count is not a host.
  const parameters = ({ endpoint }: (typeof found)[number]) => endpoint.path.split(":").length;
  return found.sort((a, b) => parameters(a) - parameters(b))[0]?.name;
}

const pathOf = { mfa: linkPaths.mfa, password_reset: linkPaths.reset, email_change: linkPaths.email };

/** Creates the authorities WIFI and EST (which signs) and two templates. */
async function makeAuthorities(app: TestApp, files: string): Promise<void> {
  const { url, request } = await startSigning();
  Object.assign(app.services.settings, { outbound_allow: ["127.0.0.1", "localhost"] });
  const add = (body: object) => app.post("/certificate_authorities?skip_check=true", body);
  const wifi = await add({ custom_scep_proxy: { name: "WIFI", url: "https://scep.example.com", challenge: "c" } });
  await add({ hosted_est_ca: { name: "EST", url, client_id: "u", client_secret: "p" } });
  const { id } = (await wifi.json()) as { id: number };
  const template = { certificate_authority_id: id, subject_name: "/CN=$SVC_VAR_HOST_UUID" };
  for (const name of ["Wi-Fi", "Guests"]) await app.post("/certificates", { name, ...template });
  const scep = { name: "VPN", url: "https://vpn.example.com/scep", challenge: "c" };
  await writeFile(join(files, "challenge.txt"), "a-challenge\n");
  await writeFile(join(files, "request.pem"), request);
  await writeFile(join(files, "ca.json"), JSON.stringify({ custom_scep_proxy: scep }));
  await writeFile(join(files, "cas.yml"), JSON.stringify({ custom_scep_proxy: [scep] }));
  await writeFile(join(files, "certificates.yml"), JSON.stringify([{ name: "VPN", ...template }]));
}

/** A package and a license agreement as files, and unless they are to be uploaded also on the server. */
async function makeSetupFiles(id: string, { app, files }: Pick<Fleet, "app" | "files">): Promise<void> {
  await turnOnAppleMdm(app);
  await writeFile(join(files, "setup.pkg"), xar());
  await writeFile(join(files, "agreement.pdf"), "%PDF-1.7");
  if (id.endsWith(":upload")) return;
  for (const team_id of ["0", "1"]) await app.post("/bootstrap", packageForm(xar(), { team_id }));
  await app.post("/setup_experience/eula", eulaForm("%PDF-1.7"));
}

/** Creates what an example needs in addition to the fleet. */
async function prepare({ id, argv }: Example, { app, files, run }: Fleet): Promise<void> {
  if (id === "apply" && argv.includes("plan.json"))
    await run(["plan", "-f", join(files, "default.yml"), "--out", join(files, "plan.json")]);
  if (id.endsWith(":apns-ping")) {
    await turnOnAppleMdm(app);
    await setPushCertificate(app, await makePushCertificate());
    await enrollForPushes(
      app,
      (await app.store.hosts.pick(["id"], {})).map((host) => host.id),
    );
    Object.assign(app.services.settings, { apns_url: (await startPushService()).url });
  }
  if (/^operations:(get|cancel)$/.test(id)) {
    const team = await app.store.teams.first({ where: eq("name", "Workstations") });
    const host = await app.store.hosts.first({ where: eq("team_id", team!.id) });
    await makeOperation(app, host!.id, { kind: "run_script" });
  }
  if (/^views:(get|update|delete)$/.test(id))
    for (let i = 1; i <= 7; i++)
      await app.post("/views", { name: `View ${i}`, page: "hosts", query: {}, shared: "me" });
  const change = { kind: "query", owner: null, name: "Planned", action: "set", value: { query: "SELECT 1" } };
  if (id === "plans:create") await writeFile(join(files, "changes.json"), JSON.stringify({ changes: [change] }));
  if (/^plans:(get|apply|delete)$/.test(id)) await app.post("/plans", { changes: [change] });
  if (id.startsWith("config:logo:")) {
    for (const name of ["logo.png", "logo-white.png"]) await writeFile(join(files, name), PNG);
    if (id !== "config:logo:set") await app.request("PUT", "/logo", logoForm(PNG));
  }
  if (/^mdm:(bootstrap|eula):/.test(id)) await makeSetupFiles(id, { app, files });
  if (id === "mdm:disk-encryption:enable" || id === "mdm:setup" || id === "mdm:local-account")
    await turnOnAppleMdm(app);
  if (id.startsWith("mdm:enrollment-profile:")) await turnOnAppleMdm(app);
  if (id === "device:trigger-escrow" || id === "device:rotate-key") {
    const isLinux = id === "device:trigger-escrow";
    const set = { platform: isLinux ? "ubuntu" : "darwin", disk_encryption_enabled: true };
    await app.store.hosts.update({ where: everything, set });
    await app.store.managedAgents.insert({ id: 1, agent_key_hash: "of 1", enrolled_at: app.clock.iso() });
    const { team_id } = (await app.store.hosts.get(1))!;
    await app.post("/disk_encryption", { team_id, enable_disk_encryption: true });
  }
  if (id === "alias:remove") await run(["alias", "set", "gone", "--", "hosts", "list", "--status", "offline"]);
  if (id.startsWith("scripts:")) await makeScripts(app, files);
  if (/^scripts:batch:(get|hosts|cancel)$/.test(id)) await makeBatch(app);
  if (id.startsWith("setup-experience:")) await makeSetupItems(id, { app, files });
  if (/^(software|device):(categories|icons?|rename)/.test(id)) await makeSelfService(id, { app, files });
  if (id.startsWith("vulnerabilities:")) {
    const known = { cvss_score: 9.8, epss_probability: 0.5, cisa_known_exploit: true };
    await makeVulnerabilities(app, { software: 1, cves: ["CVE-2026-0001"], known });
    await app.services.running.of(vulnerabilityCounts).flush();
  }
  if (/^device:(install|uninstall|command-result)/.test(id)) await makeOwnInstalls(id, { app, files });
  if (id === "device:migrate-mdm") {
    await turnOnAppleMdm(app);
    const macos_migration = { enable: true, mode: "voluntary", webhook_url: "https://hooks.example.com/migrate" };
    await app.patch("/config", { mdm: { macos_migration } });
    await app.store.hosts.update({ where: everything, set: { platform: "darwin" } });
    await app.store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", connected_to_svc: false });
  }
  if (id.startsWith("software:packages:")) await makePackages(id, { app, files });
  if (/^software:(un)?install\b/.test(id)) await makeInstalls(app, files);
  if (id === "mdm:enrollment-profile:manual" || id === "device:enroll-url") await allowEnrollment(app);
  if (id.startsWith("mdm:profiles:") || id === "device:resend-profile") {
    await turnOnAppleMdm(app);
    for (const team_id of [0, 1])
      await makeProfile(app, { team_id, name: "Passcode", content: declaration("passcode") });
    await writeFile(join(files, "passcode.json"), declaration("passcode"));
    await writeFile(join(files, "updates.json"), declaration("updates"));
    await writeFile(join(files, "activation.json"), activation("updates"));
    await writeFile(join(files, "wifi.mobileconfig"), mobileconfig("wifi"));
    const [{ uuid = "" } = {}] = await app.store.configurationProfiles.list({ where: isNull("team_id") });
    // The comparison that new profiles start would remove the row below: the host is not enrolled.
    await app.services.running.of(profileReconciler).run();
    // A profile of the first host, by the uuid of the example or its own.
    const profile_uuid = argv.find((word) => word.startsWith("d0000000")) ?? uuid;
    const row = { host_id: 1, profile_uuid, platform: "darwin", name: "Passcode", operation_type: "install" } as const;
    await app.store.hostProfiles.insert({ ...row, status: "failed" });
  }
  if (id.startsWith("mdm:assets:")) {
    await turnOnAppleMdm(app);
    const file = asset("com.example.credentials");
    if (id === "mdm:assets:add") await writeFile(join(files, "credentials.json"), file);
    else await app.post("/assets", assetForm(file));
  }
  if (id === "uploads:create") await writeFile(join(files, "editor.pkg"), "a package");
  else if (id.startsWith("uploads:")) await app.post("/uploads", { name: "a", size: 1, sha256: "0".repeat(64) });
  if (id.startsWith("mdm:commands:")) {
    await turnOnAppleMdm(app);
    const uuid = argv.find((word) => /^[0-9a-f-]{36}$/.test(word));
    await app.store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", connected_to_svc: true });
    const { uuid: host } = (await app.store.hosts.get(1))!;
    const command = appleCommand("ClearPasscode", {}, uuid);
    await app.post("/mdm/commands/run", { command, host_uuids: [host] });
    await writeFile(join(files, "profile-list.plist"), Buffer.from(appleCommand("ProfileList"), "base64"));
  }
  if (id.startsWith("scim:")) {
    await app.post("/scim/Users", { userName: "ann@example.com" });
    await app.post("/scim/Groups", { displayName: "Sales" });
  }
  if (id === "device:bypass-conditional-access") {
    await configureProduct(app);
    await app.store.hosts.update({ where: everything, set: { team_id: null } });
  }
  if (/^conditional-access:(connect|confirm|disconnect)$/.test(id)) {
    Object.assign(app.services.settings, (await startDirectory()).settings);
    await app.request("PUT", "/directory_graph_credentials", credentials());
    if (id !== "conditional-access:connect")
      await app.post("/conditional-access/directory", { directory_tenant_id: TENANT });
  }
  if (id === "device:sso") {
    const metadata = metadataOf(await makeSigningKey());
    const end_user_authentication = { entity_id: "svc-of-tests", idp_name: "Test IdP", issuer_uri: ISSUER, metadata };
    await app.patch("/config", { mdm: { end_user_authentication }, svc_desktop: { sso_enabled: true } });
  }
  if (id.startsWith("directory:")) {
    const directory = await startDirectory();
    Object.assign(app.services.settings, directory.settings);
    if (id !== "directory:set") await app.request("PUT", "/directory_graph_credentials", credentials());
    await writeFile(join(files, "app-secret.txt"), `${SECRET}\n`);
  }
  if (id.startsWith("variables:")) {
    await writeFile(join(files, "token.txt"), "a-secret-token\n");
    if (id !== "variables:create") await app.post("/custom_variables", { name: "API_TOKEN", value: "earlier-token" });
  }
  if (/^vitals:(update|delete|set)/.test(id)) await app.post("/custom_host_vitals", { name: "Site" });
  if (id === "setup") await app.store.users.delete(everything);
  if (id === "login") {
    const user = { name: "Admin", email: "admin@example.com", password: "A-good-Password-77", global_role: "admin" };
    await app.post("/users/admin", user);
  }
  if (/^(login|config:test-mail|users:(forgot-password|reset-password|confirm-email))$/.test(id)) {
    await mailOf(app);
    for (const [option, kind] of [
      ["--mfa-token-stdin", "mfa"],
      ["--password-reset-token-file", "password_reset"],
      ["--token-file", "email_change"],
    ] as const) {
      if (!argv.includes(option)) continue;
      const token = await issueToken(app.services, kind, 1, 60_000, { email: "fresh@example.com" });
      await writeFile(join(files, "link.txt"), `https://svc.example.com${pathOf[kind]}${token}\n`);
    }
  }
  if (argv.includes("--required"))
    await app.store.users.update({ where: everything, set: { force_password_reset: true } });
  // Host 1 is managed by this server, and its disk encryption key is known.
  if (["hosts:mdm", "hosts:unenroll", "hosts:encryption-key"].includes(id)) {
    await app.store.hostMdm.insert({ id: 1, enrollment_status: "On (manual)", connected_to_svc: true });
    const key_updated_at = app.clock.iso();
    await app.store.hostDiskEncryption.insert({ id: 1, status: "verified", key: "A-KEY", key_updated_at });
  }
  if (id === "hosts:cancel") {
    await makeOperation(app, 1, { uuid: argv.find((word) => /^[0-9a-f-]{36}$/.test(word))! });
  }
  if (id === "hosts:clear-passcode") {
    await turnOnAppleMdm(app);
    await makePhone(app, (await makeHost(app, { hostname: "iphone-1.example.com" })).id);
  }
  if (id === "mdm:name-template") await turnOnAppleMdm(app);
  if (id === "hosts:resend-name") {
    await turnOnAppleMdm(app);
    await makeNamedPhone(app, 1);
  }
  if (/^hosts:(rotate-)?(recovery-lock|managed-account)-password$/.test(id)) {
    await turnOnAppleMdm(app);
    if (!(await app.store.recoveryLocks.get(1))) await makeMacWithPasswords(app, 1);
  }
  if (/^hosts:(lock|unlock|wipe)$/.test(id)) {
    const { id: hostId } = (await app.store.hosts.first({ where: eq("hostname", "linux-1.example.com") }))!;
    await app.store.managedAgents.insert({ id: hostId, agent_key_hash: "hash", enrolled_at: app.clock.iso() });
    await app.store.hostActions.insert({ id: hostId, locked: id === "hosts:unlock" });
  }
  if (/^(query|hosts:query|queries:run|queries:live:.*|carves:start)$/.test(id)) {
    await answerLiveQueries(app);
    Object.assign(app.services.settings, { live_query_rest_period: 60_000 });
    await app.post("/queries/live", { query: "SELECT 1", selected: { hosts: [1] } });
  }
  if (/^webhooks:(deliveries:get|replay|give-up)$/.test(id)) {
    const url = "http://127.0.0.1:9/";
    const event = { kind: "webhook", event: "activities", destination: url, url, payload: { n: 1 } } as const;
    await app.store.outbox.insert({
      ...newRow(app.services, event),
      state: id === "webhooks:give-up" ? "pending" : "dead",
    });
  }
  if (id === "webhooks:test") {
    const { url } = await startReceiver();
    Object.assign(app.services.settings, { outbound_allow: ["127.0.0.1", "localhost"] });
    const activities_webhook = { enable_activities_webhook: true, destination_url: url };
    const host_activities_webhook = { enable_host_activities_webhook: true, destination_url: url };
    await app.patch("/config", { webhook_settings: { activities_webhook } });
    const { id: teamId } = (await app.store.teams.first({ where: eq("name", "Workstations") }))!;
    await app.patch(`/teams/${teamId}`, { webhook_settings: { host_activities_webhook } });
  }
  if (id === "webhooks:destinations:update") {
    const activities_webhook = { enable_activities_webhook: true, destination_url: "https://hooks.example.com/svc" };
    await app.patch("/config", { webhook_settings: { activities_webhook } });
  }
  if (id.startsWith("device:")) {
    const token = "0b0d1f6e-6a0f-4d0f-9a6a-5d1c6d2f3a11";
    await writeFile(join(files, "device-token.txt"), `${token}\n`);
    await app.store.deviceTokens.insert({ id: 1, token_hash: tokenHash(token), updated_at: app.clock.iso() });
  }
  if (/^invites:(update|delete|show|accept)$/.test(id)) {
    const invited = { name: "Ina", email: "invited@example.com", global_role: "observer" };
    const { link } = (await (await app.post("/invites", invited)).json()) as { link: string };
    await writeFile(join(files, "invite.txt"), `${link}\n`);
  }
  if (id.startsWith("approvals:")) {
    const mia = await makeUser(app, "maintainer", { name: "Mia" });
    await makeApproval(app, mia.id, [1, 2]);
  }
  if (/^mdm:(apns|apple:)/.test(id)) {
    const { clock, services } = app;
    const key = await newKey();
    const { key: before } = await services.store.applePushRequests.insert({
      created_at: clock.iso(),
      key: pemOfKey(await newKey()),
    });
    const pem = await pushCertificateFor(createPublicKey(before), clock.now());
    await writeFile(join(files, "push.pem"), pem);
    await writeFile(join(files, "own.pem"), await pushCertificateFor(key, clock.now()));
    await writeFile(join(files, "own-key.pem"), pemOfKey(key));
    if (/^mdm:(apns|apple:(delete|status))$/.test(id))
      await uploadPushCertificate(
        { ...serviceContext(services), store: services.store },
        { certificate: pem, privateKey: null, force: false },
      );
  }
  if (id.startsWith("tasks:")) {
    const running = id === "tasks:cancel";
    await app.store.tasks.insert({
      created_at: app.clock.iso(),
      kind: "delete_hosts",
      state: running ? "queued" : "done",
      // A running server starts it only later.
      retry_at: running ? isoAt(app.clock.now() + days(1)) : null,
      requested_by: null,
      total: 300,
      started_at: null,
      finished_at: running ? null : app.clock.iso(),
      runner_until: null,
    });
  }
  if (/^mdm:(abm|bm|enrollment-profile)|^hosts:release$/.test(id)) {
    const rows = await app.store.hosts.pick(["id"], {});
    const portal = await makePortal(
      app,
      rows.map((row) => row.id),
    );
    if (/:(add|renew)$/.test(id)) {
      const { public_key } = (await (await app.get("/mdm/vendora/abm_public_key")).json()) as { public_key: string };
      await writeFile(join(files, "token.p7m"), await portal.tokenFile(Buffer.from(public_key, "base64").toString()));
      const server_uuid = id.endsWith(":renew") ? PORTAL_SERVER : "another";
      await app.store.abmTokens.update({ where: eq("id", 1), set: { server_uuid } });
    }
    await writeFile(join(files, "setup.json"), JSON.stringify({ profile_name: "Workstations", is_supervised: true }));
  }
  if (id.startsWith("software:store-apps:")) {
    const service = await startLicenseService();
    Object.assign(app.services.settings, service.settings);
    await addVppToken(app, service);
    await writeFile(join(files, "store-apps.yml"), "- app_store_id: '361309726'\n  self_service: true\n");
    if (id.endsWith(":update")) {
      const team = (await app.store.teams.first({ where: eq("name", "Workstations") }))!;
      await makeStoreApp(app, team.id, { title_id: 1 });
      await makeStoreApp(app, null, { title_id: 2 });
    }
  }
  if (id.startsWith("mdm:vpp:")) {
    const service = await startLicenseService();
    Object.assign(app.services.settings, service.settings);
    if (id.endsWith(":renew")) await addVppToken(app, service);
    else if (!id.endsWith(":add")) await makeVppToken(app);
    await writeFile(join(files, "main-street.vpptoken"), service.tokenFile());
  }
  const offersApp = ["software:catalogue:pin", "software:packages:update", "policies:create"].includes(id);
  if (id.startsWith("software:catalogue:") || offersApp) await makeDownloadableApp(app);
  if (offersApp) {
    const team = (await app.store.teams.first({ where: eq("name", "Workstations") }))!;
    await app.post("/software/svc_maintained_apps", { svc_maintained_app_id: 1, team_id: team.id });
  }
  if (id === "software:catalogue:pin") {
    await app.store.softwareInstallers.update({ where: everything, set: { title_id: 1 } });
  }
  if (id === "tokens:delete") await app.post("/tokens", { name: "nightly" });
  if (id === "config:edit")
    await writeFile(
      join(files, "editor.mjs"),
      'import fs from "node:fs"; const f = process.argv[2]; fs.writeFileSync(f, fs.readFileSync(f, "utf8").replace("24h", "8h"));',
    );
  if (id === "license:issue") {
    const [privateKey, publicKey] = ["license-private.pem", "license-public.pem"].map((name) => join(files, name));
    await run(["license", "keygen", "--private-key-file", privateKey!, "--public-key", publicKey!]);
  }
  if (id === "license:verify") {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const claims = { iss: "svc", sub: "Example Ltd", devices: 10, exp: 4_000_000_000 };
    const key = await new SignJWT(claims).setProtectedHeader({ alg: "EdDSA" }).sign(privateKey);
    await writeFile(join(files, "license.txt"), `${key}\n`);
    await writeFile(join(files, "license.pem"), publicKey.export({ type: "spki", format: "pem" }));
  }
  if (/^(ca|certificates):/.test(id)) await makeAuthorities(app, files);
  if (id.startsWith("sso:")) {
    const key = await makeSigningKey();
    await turnOnSso(app, key, { enable_sso_idp_login: true });
    await app.post("/users/admin", { ...SSO_USER, sso_enabled: true, global_role: "observer" });
    const response = signedAssertion({ now: app.clock.now(), requestId: null }, key);
    await writeFile(join(files, "response.txt"), Buffer.from(response).toString("base64"));
  }
  if (id === "config:certificate") {
    const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    await writeFile(join(files, "chain.pem"), pem);
    Object.assign(app.services.settings, { tls_cert: join(files, "chain.pem") });
  }
}

const commandOf = (id: string) => config.findCommand(id)!;
/** Without GETs of mailed links that change something: these have a --dry-run. */
const readsOnly = (id: string) =>
  claimed(id).length > 0 && claimed(id).every(({ method }) => method === "GET") && !commandOf(id).flags["dry-run"];

/** Examples that only read, but read what is prepared for them. */
const prepared =
  /^(approvals|mdm|scripts|ca|software:(catalogue|categories|icons|packages|store-apps|install-result)|carves:start|certificates|conditional-access|device|license|query|sso|tasks|queries:live|vulnerabilities)\b|^hosts:(mdm|encryption-key|query)$|^(invites:show|webhooks:deliveries:get|config:certificate)$/;

/** What hosts do while a command, or a request, waits. */
const answers = new WeakMap<TestApp, () => Promise<void>>();

function hostsDo(app: TestApp, answer: () => Promise<void>): void {
  answers.set(app, answer);
  // Until the example's server is closed.
  const answering = setInterval(() => void answer().catch(() => clearInterval(answering)), 50);
}

/** A run of a script that has not ended. */
async function makeBatch(app: TestApp): Promise<void> {
  const linux = (await app.store.hosts.first({ where: eq("hostname", "linux-1.example.com") }))!;
  const enrolled_at = app.clock.iso();
  const batch = await app.store.scriptBatches.insert({
    uuid: "6b1d2f1e-0d1c-4c7d-9b1e-000000000002",
    created_at: enrolled_at,
    script_id: 1,
    script_name: "tidy.sh",
    team_id: null,
    user_id: 1,
    not_before: null,
    status: "started",
    started_at: enrolled_at,
    finished_at: null,
    host_count: 2,
  });
  for (const [host_id, state] of [
    [linux.id, "pending"],
    [linux.id + 1, "errored"],
  ] as const)
    await app.store.scriptBatchHosts.insert({
      batch_id: batch.id,
      host_id,
      display_name: linux.display_name,
      hostname: linux.hostname,
      state,
      execution_uuid: null,
      updated_at: enrolled_at,
    });
}

/** The first title has self-service on the first host, which was asked for it if a result is to be shown. */
async function makeOwnInstalls(id: string, { app, files }: Pick<Fleet, "app" | "files">): Promise<void> {
  const uuid = (end: number) => `e0000000-0000-4000-8000-00000000000${end}`;
  if (id === "device:command-result") {
    await turnOnAppleMdm(app);
    const { id: store_app_id, title_id, adam_id } = await makeStoreApp(app, null);
    const operation = await makeOperation(app, 1, { uuid: uuid(3) });
    const row = { id: operation.id, created_at: app.clock.iso(), host_id: 1, store_app_id, title_id, adam_id };
    await app.store.storeAppInstalls.insert({ ...row, command_uuid: uuid(3) });
    return;
  }
  await makePackages(id, { app, files });
  await app.store.softwareInstallers.update({
    where: everything,
    set: { self_service: true, uninstall_script: "echo" },
  });
  await app.store.hosts.update({ where: eq("id", 1), set: { platform: "ubuntu" } });
  await app.store.managedAgents.insert({ id: 1, agent_key_hash: "of 1", enrolled_at: app.clock.iso() });
  if (!id.endsWith("-result")) return;
  const isUninstall = id === "device:uninstall-result";
  await app.post(`/hosts/1/software/1/${isUninstall ? "uninstall" : "install"}`);
  const set = { uuid: uuid(isUninstall ? 2 : 1) };
  await app.store.softwareInstallRuns.update({ where: everything, set });
  await app.store.scriptExecutions.update({ where: everything, set });
}

/** The category Browsers, unless it is to be created, and an icon of the first title, which is a package. */
async function makeSelfService(id: string, { app, files }: Pick<Fleet, "app" | "files">): Promise<void> {
  await writeFile(join(files, "icon.png"), png(120));
  if (id === "software:rename")
    await app.store.softwareTitles.update({ where: eq("id", 1), set: { bundle_identifier: "com.example.editor" } });
  if (id.endsWith(":categories:create")) return;
  for (const team_id of [0, 1]) await app.post("/software/self_service_categories", { team_id, name: "Browsers" });
  if (id.includes(":categories")) return;
  await makePackages(id, { app, files });
  for (const team_id of [0, 1])
    await app.request("PUT", `/software/titles/1/icon?team_id=${team_id}`, iconForm(png(120)));
}

/** A title that hosts can install during their setup, and unless it is to be uploaded the script. */
async function makeSetupItems(id: string, { app, files }: Pick<Fleet, "app" | "files">): Promise<void> {
  await writeFile(join(files, "welcome.sh"), "echo welcome");
  if ((await app.store.softwareInstallers.count()) === 0) await makePackages(id, { app, files });
  const body = new FormData();
  body.set("team_id", "1");
  body.set("script", new File(["echo welcome"], "welcome.sh"));
  if (!id.endsWith(":upload")) await app.post("/setup_experience/script", body);
}

/** A script package as a file, and unless it is to be uploaded also as the first title on the server. */
async function makePackages(id: string, { app, files }: Pick<Fleet, "app" | "files">): Promise<void> {
  await writeFile(join(files, "tool.sh"), "echo tool");
  await writeFile(join(files, "check.sh"), "echo checked");
  if (id.endsWith(":upload")) return;
  const digest = createHash("sha256").update("echo").digest("hex");
  await writeFile(join(files, "packages.yml"), `- hash_sha256: ${digest}\n  self_service: true\n`);
  if (id.endsWith(":batch")) {
    const packages = [] as [];
    const [uuid, created_at] = ["ba7c4000-0000-4000-8000-000000000001", app.clock.iso()];
    const row = { uuid, created_at, team_id: null, is_dry_run: false, total: 0, found: [], packages };
    await app.store.packageBatches.insert({ ...row, status: "completed" });
  }
  for (const team_id of ["0", "1"]) {
    const body = new FormData();
    body.set("team_id", team_id);
    body.set("software", new File(["echo"], "tool.sh"));
    await app.post("/software/package", body);
  }
  const [{ id: installer, title_id } = { id: 0, title_id: 0 }] = await app.store.softwareInstallers.list({});
  const { key, name, source } = (await app.store.softwareTitles.get(title_id))!;
  await app.store.softwareTitles.update({ where: eq("id", title_id), set: { key: "moved" } });
  await app.store.softwareTitles.update({ where: eq("id", 1), set: { key, name, source } });
  await app.store.softwareInstallers.update({ where: eq("title_id", title_id), set: { title_id: 1 } });
  const context = serviceContext(app.services);
  const data = { installer: String(installer) };
  await issueToken(context, "package_download", 1, 600_000, data, "1XnS3bBxVbIpDqBkNnXK");
}

/** A saved script, a host that runs scripts, and one that it has run. */
async function makeScripts(app: TestApp, files: string): Promise<void> {
  await writeFile(join(files, "cleanup.sh"), "#!/bin/sh\necho clean\n");
  await writeFile(join(files, "cleanup-2.sh"), "#!/bin/sh\necho cleaner\n");
  const body = new FormData();
  body.set("script", new File(["echo clean"], "tidy.sh"));
  await app.post("/scripts", body);
  const linux = (await app.store.hosts.first({ where: eq("hostname", "linux-1.example.com") }))!;
  const enrolled_at = app.clock.iso();
  await app.store.managedAgents.insert({ id: linux.id, agent_key_hash: `of ${linux.id}`, enrolled_at });
  const text = await app.store.scriptTexts.insert({ digest: "of an earlier run", content: "echo earlier" });
  await app.store.scriptExecutions.insert({
    uuid: "6b1d2f1e-0d1c-4c7d-9b1e-000000000001",
    host_id: linux.id,
    hostname: linux.hostname,
    team_id: null,
    script_id: null,
    text_id: text.id,
    state: "ended",
    exit_code: 0,
    output: "earlier",
    created_at: enrolled_at,
    ended_at: enrolled_at,
  });
  // Acts for the host's agent: it runs what is asked of it.
  const answer = async () => {
    for (const { uuid, host_id } of await app.store.operations.list({ where: eq("state", "queued") }))
      await answerOperation(app.services, host_id, uuid, { exit_code: 0, output: "done", runtime: 1 });
    await settleBatches(app.services);
  };
  hostsDo(app, answer);
}

/** A package, a host that installs and uninstalls it, and one installation that the host has done. */
async function makeInstalls(app: TestApp, files: string): Promise<void> {
  await makePackages("software:install", { app, files });
  const installer = (await app.store.softwareInstallers.first({ where: isNull("team_id") }))!;
  await app.store.softwareInstallers.update({ where: everything, set: { uninstall_script: "exit 0" } });
  const linux = (await app.store.hosts.first({ where: eq("hostname", "linux-1.example.com") }))!;
  const now = app.clock.iso();
  await app.store.managedAgents.insert({ id: linux.id, agent_key_hash: `of ${linux.id}`, enrolled_at: now });
  const done = {
    pre_install_condition_output: null,
    install_script_exit_code: 0,
    install_script_output: "installed",
    post_install_script_exit_code: null,
    post_install_script_output: null,
  };
  const { id, uuid } = await makeOperation(app, linux.id, {
    uuid: "6b1d2f1e-0d1c-4c7d-9b1e-000000000003",
    kind: "software_install",
    state: "answered",
  });
  await app.store.softwareInstallRuns.insert({
    id,
    uuid,
    created_at: now,
    host_id: linux.id,
    title_id: installer.title_id,
    installer_id: installer.id,
    file_name: installer.file_name,
    status: "installed",
    answer: done,
    ended_at: now,
  });
  // Acts for the host's agent: it does what is asked of it.
  const answer = async () => {
    for (const { uuid, host_id, kind } of await app.store.operations.list({ where: eq("state", "queued") }))
      await (kind === "software_install"
        ? installResult(serviceContext(app.services), host_id, { install_uuid: uuid, ...done })
        : answerOperation(app.services, host_id, uuid, { exit_code: 0, output: "done", runtime: 1 }));
  };
  hostsDo(app, answer);
}

/** With a service account, and turned on unless that is the example. */
async function androidFleet(id: string): Promise<Fleet> {
  const service = await startAndroid();
  service.apps.set("com.example.mail", { title: "Mail" });
  const fleet = await startFleet({ settings: service.settings });
  service.now = () => new Date(fleet.app.clock.now());
  await writeFile(join(fleet.files, "intranet.png"), png(512));
  await writeFile(join(fleet.files, "secret.txt"), `${await makeSecret(fleet.app, "secret-of-android")}\n`);
  if (id.endsWith(":sign-up")) endSignUps(fleet.app, service);
  else await turnAndroidOn(fleet.app, service);
  return fleet;
}

let common: Promise<Fleet> | undefined;
afterAll(async () => (await common)?.app.close());
/** The other examples that only read share one fleet. */
function fleetFor(id: string): Promise<Fleet> {
  if (id.startsWith("mdm:android:") || id === "software:store-apps:add") return androidFleet(id);
  if (!readsOnly(id) || prepared.test(id)) return startFleet();
  common ??= startFleet({ shared: true });
  return common;
}

/** The example without its confirmation; null if it has none. */
function unconfirmed(argv: readonly string[]): string[] | null {
  const at = argv.findIndex((word) => ["--yes", "-y", "--confirm"].includes(word));
  if (at === -1) return null;
  return argv.filter((_, index) => index !== at && !(argv[at] === "--confirm" && index === at + 1));
}

/** Replies of a server of another version, so that there is a warning. */
const fromOtherVersion =
  (send: Send): Send =>
  async (url, init) => {
    const reply = await send(url, init);
    const get = (name: string) => (name === "x-svc-version" ? "7.3.0" : reply.headers.get(name));
    return { status: reply.status, headers: { get }, text: () => reply.text(), body: reply.body };
  };

// Examples use files in the folder in which they run, and some write there.
const started = process.cwd();
afterEach(() => process.chdir(started));

describe("the examples in help", () => {
  it("exist for every command", () => {
    expect([...new Set(all.map(({ id }) => id))].sort()).toEqual(Object.keys(classes).sort());
  });

  it.each(examples)("$text", async (example) => {
    const { id, argv, stdin } = example;
    const fleet = await fleetFor(id);
    await prepare(example, fleet);
    const send = sendInto(fleet.app);
    process.chdir(fleet.files);
    const options = {
      env: { EDITOR: `"${process.execPath}" "${join(fleet.files, "editor.mjs")}"` },
      browse: (url: string) => signInByBrowser(fleet.app, url),
      onWait: async () => answers.get(fleet.app)?.(),
      stdin: stdin === null ? "" : await readFile(join(fleet.files, stdin), "utf8"),
    };

    const asks = isDestructive(commandOf(id)) && !argv.includes("--dry-run");
    const bare = asks ? unconfirmed(argv) : null;
    if (bare) {
      const changes: string[] = [];
      const watching: Send = (url, init) => {
        const endpoint = endpointOf(init.method, url);
        if (init.method !== "GET" && endpoint !== "configuration.state") changes.push(`${init.method} ${url}`);
        return send(url, init);
      };
      const refused = await fleet.run(bare, { ...options, send: watching });
      expect(refused.exitCode, refused.stderr).toBe(2);
      expect(refused.stderr).toMatch(/--yes|--confirm/);
      expect(changes).toEqual([]);
    }

    const result = await fleet.run([...argv], {
      ...options,
      send: (url, init) => {
        asked.add(`${id} ${endpointOf(init.method, url)}`);
        return send(url, init);
      },
    });
    expect(result.exitCode, `${result.stdout}${result.stderr}`).toBe(0);
    expect(`${result.stdout}${result.stderr}`).not.toBe("");
    // Without a terminal there are no colours and cursor movements.
    expect(`${result.stdout}${result.stderr}`).not.toContain("\u001b");

    const formatted = ["-o", "--csv", "--watch", "--jq"].some((flag) => argv.includes(flag));
    if (!readsOnly(id) || !commandOf(id).flags.output || formatted) return;
    const again = await fleet.run([...argv, "-o", "json"], { ...options, send: fromOtherVersion(send) });
    expect(again.exitCode, again.stderr).toBe(0);
    expect(again.stderr).toContain("the server has version 7.3.0");
    expect(() => JSON.parse(again.stdout), again.stdout).not.toThrow();
  });

  it("show how each destructive command is confirmed", () => {
    const shown = all.filter(({ argv }) => unconfirmed(argv) !== null).map(({ id }) => id);
    const destructive = config.commands.filter(isDestructive).map(({ id }) => id);
    expect(destructive.length).toBeGreaterThan(20);
    expect(destructive.filter((id) => !shown.includes(id))).toEqual([]);
  });

  it("reach every endpoint of their command", () => {
    const named = new Map(allEndpoints.map(({ name, endpoint }) => [endpoint, name]));
    const missing = [...new Set(examples.map(({ id }) => id))].flatMap((id) =>
      claimed(id)
        .map((endpoint) => `${id} ${named.get(endpoint)}`)
        .filter((one) => !asked.has(one) && !forSeveralHosts.has(one)),
    );
    expect(missing).toEqual([]);
  });
});

// Activities as sentences, as the console shows them.
import { describe, expect, it } from "vitest";
import type { Activity } from "../../src/api/platform/activities.ts";
import { type Piece, piecesOf } from "../../src/console/parts/activities/pieces.ts";
import { sentences } from "../../src/console/parts/activities/sentences.ts";

const activity = (type: string, details: Activity["details"], more: Partial<Activity> = {}): Activity => ({
  id: 1,
  created_at: "2026-03-01T12:00:00.000Z",
  actor_full_name: "Grace",
  type,
  svc_initiated: false,
  details,
  ...more,
});

/** Names are in angle brackets, hosts with a page in square ones. */
const shown = (pieces: readonly Piece[]): string =>
  pieces
    .map((piece) =>
      piece.kind === "text"
        ? piece.text
        : piece.kind === "host" && piece.id !== null
          ? `[${piece.text} ${piece.id}]`
          : `<${piece.text}>`,
    )
    .join("");
const sentence = (shownActivity: Activity): string => {
  const { who, what } = piecesOf(shownActivity);
  return `${shown(who)} ${shown(what)}`;
};

const host = { host_id: 3, host_display_name: "lab-1" };
const title = { ...host, software_title: "setupw1", self_service: false };

describe("an activity in the console", () => {
  it.each<[string, Activity["details"], string]>([
    [
      "changed_user_team_role",
      { user_name: "Olga", role: "observer", team_name: "Desktops", team_id: 1 },
      "assigned the role observer on <Desktops> to <Olga>",
    ],
    [
      "transferred_hosts",
      { team_name: "Servers", host_ids: [1, 2], host_display_names: ["a", "b"] },
      "moved 2 hosts to <Servers>",
    ],
    [
      "transferred_hosts",
      { team_name: null, host_ids: [1], host_display_names: ["a"] },
      "moved 1 host out of their team",
    ],
    ["created_policy", { policy_name: "Disk", team_name: "Servers" }, "created policy <Disk> in the team <Servers>"],
    [
      "edited_macos_min_version",
      { team_name: "Servers" },
      "removed the minimum version of macOS for the team <Servers>",
    ],
    ["deleted_host", { host_id: 7, host_display_name: "gone" }, "deleted host <gone>"],
    ["constructor", null, "constructor"],
    [
      "installed_software",
      { ...title, status: "installed", policy_name: "Patch" },
      "installed software <setupw1> on [lab-1 3] for the policy <Patch>",
    ],
    [
      "installed_software",
      { ...title, status: "failed_install", policy_name: null },
      "failed to install software <setupw1> on [lab-1 3]",
    ],
    [
      "installed_software",
      { ...title, status: "pending_install" },
      "requested the installation of software <setupw1> on [lab-1 3]",
    ],
    [
      "uninstalled_software",
      { ...title, status: "failed_uninstall" },
      "failed to uninstall software <setupw1> on [lab-1 3]",
    ],
    [
      "edited_software",
      { software_title: "setupw1", software_display_name: "Writer", team_name: "Servers" },
      "edited software <setupw1> in the team <Servers>",
    ],
    ["ran_script", { ...host, script_name: "" }, "ran a script on [lab-1 3]"],
    ["live_query", { targets_count: "many" }, "ran a live query on 0 hosts"],
  ])("%s with %j says what was done", (type, details, expected) => {
    expect(sentence(activity(type, details))).toBe(`Grace ${expected}`);
  });

  it("says who did it: the user of a host without an account, the server, or somebody who is not known", () => {
    const { actor_full_name: _, ...nobody } = activity("installed_software", {
      ...title,
      status: "installed",
      self_service: true,
    });
    expect(sentence(nobody as Activity)).toBe("The user of [lab-1 3] installed software <setupw1>");
    expect(sentence(activity("svc_enrolled", host, { svc_initiated: true }))).toBe("svc enrolled the host [lab-1 3]");
    const { actor_full_name: __, ...unknown } = activity("user_logged_in", {});
    expect(sentence(unknown as Activity)).toBe("Somebody signed in");
  });

  it("is a whole sentence for each type, whether or not its details are there", () => {
    const all = {
      ...{ host_id: 3, host_display_name: "lab-1", team_name: "[T]", user_name: "{U}", software_title: "S" },
      ...{ policy_name: "P", role: "admin", minimum_version: "26", deadline: "2027-01-01", host_count: 2, teams: [1] },
    };
    for (const type of Object.keys(sentences))
      for (const details of [all, {}]) {
        const text = piecesOf(activity(type, details))
          .what.map((piece) => piece.text)
          .join("")
          .replaceAll("[T]", "T")
          .replaceAll("{U}", "U");
        expect(text, type).toMatch(/^[a-z][^[\]{}]*$/);
        expect(text, type).not.toMatch(/undefined|null|NaN/);
      }
  });
});

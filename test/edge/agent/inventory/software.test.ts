import { describe, expect, it } from "vitest";
import type { DetailResults } from "../../../../src/server/platform/agent-protocol/rows.ts";
import {
  type SoftwareContext,
  softwareChanges,
  softwareFingerprint,
  softwareKey,
  titleKey,
} from "../../../../src/server/software/software/inventory.ts";
import type { SoftwareVersion } from "../../../../src/server/software/software/reported-rows/read.ts";
import { answers, answersOf, type Fixture } from "./fixture.ts";

const platforms: Partial<Record<Fixture, string>> = {
  "macos-14": "darwin",
  "windows-11": "windows",
  "ubuntu-22.04": "ubuntu",
  "debian-12": "debian",
  "rhel-9": "rhel",
  "centos-7": "centos",
};
interface ShownVersion extends SoftwareVersion {
  readonly installed_paths: readonly string[];
  readonly last_opened_at: string | null;
}

/** The entries in order, so that they can be compared. */
function changesOf(results: DetailResults, ctx: SoftwareContext) {
  const { replaced, entries } = softwareChanges(results, ctx);
  const ordered = [...entries].sort((a, b) => (a.version.identity < b.version.identity ? -1 : 1));
  return {
    replaced,
    entries: ordered.map(({ version, ...more }): ShownVersion => ({ ...version.software, ...more })),
  };
}
const softwareOf = (name: Fixture) => changesOf(answersOf(name), { platform: platforms[name] ?? "" });
const of = (entries: readonly ShownVersion[], source: string) => entries.filter((entry) => entry.source === source);
const names = (entries: readonly ShownVersion[], source: string) => of(entries, source).map(({ name }) => name);
const plain = {
  extension_for: "",
  extension_id: "",
  bundle_identifier: "",
  source_package: "",
  release: "",
  vendor: "",
  arch: "",
  upgrade_code: "",
  installed_paths: [],
  last_opened_at: null,
};

describe("macOS software", () => {
  const { entries, replaced } = softwareOf("macos-14");

  it("has apps once each, with all their paths and the last opening", () => {
    expect(of(entries, "apps")).toEqual([
      {
        ...plain,
        name: "Firefox.app",
        version: "131.0.2",
        source: "apps",
        bundle_identifier: "org.mozilla.firefox",
        installed_paths: ["/Applications/Firefox.app", "/Users/anna/Applications/Firefox.app"],
        last_opened_at: "2024-10-27T03:35:23.250Z",
      },
      // Without a bundle, and with the path "null".
      { ...plain, name: "Helper.app", version: "2.0", source: "apps" },
      {
        ...plain,
        name: "Xcode.app",
        version: "23077",
        source: "apps",
        bundle_identifier: "com.apple.dt.Xcode",
        installed_paths: ["/Applications/Xcode.app"],
      },
    ]);
  });
  it("drops rows without a name and programs of a virtual machine", () => {
    expect(names(entries, "apps")).not.toContain("Word.app");
    expect(entries.every(({ name }) => name !== "")).toBe(true);
  });
  it("has extensions under their browsers", () => {
    expect(of(entries, "chrome_extensions").map((entry) => entry.extension_for)).toEqual(["brave", "chrome"]);
    expect(of(entries, "firefox_addons")[0]).toMatchObject({
      extension_for: "firefox",
      extension_id: "{446900e4-71c2-419f-a6a7-df9c091e268b}",
    });
    expect(of(entries, "vscode_extensions")[0]).toMatchObject({
      extension_for: "",
      vendor: "Microsoft",
      extension_id: "f1f59ae4-9318-4f3c-a9b5-81b2eaa5f8a5",
    });
  });
  it("leaves Python names alone", () => expect(names(entries, "python_packages")).toEqual(["PyYAML"]));
  it("replaces the sources with results", () => {
    expect(replaced).toEqual([
      "apps",
      "homebrew_packages",
      "safari_extensions",
      "python_packages",
      "chrome_extensions",
      "firefox_addons",
      "vscode_extensions",
    ]);
  });
});

describe("Windows software", () => {
  it("has programs with publisher, location and product code", () => {
    expect(of(softwareOf("windows-11").entries, "programs")).toEqual([
      {
        ...plain,
        name: "7-Zip 24.08 (x64)",
        version: "24.08",
        source: "programs",
        vendor: "Igor Pavlov",
        installed_paths: ["C:\\Program Files\\7-Zip\\"],
      },
      {
        ...plain,
        name: "Microsoft Visual C++ 2022 X64 Minimum Runtime",
        version: "14.38.33135",
        source: "programs",
        vendor: "Microsoft Corporation",
        upgrade_code: "{19AFE054-CA83-45D5-A9DB-4108EF4BD391}",
      },
    ]);
  });
  it("replaces a source with an empty result", () => {
    expect(softwareOf("windows-11").replaced).toContain("ie_extensions");
  });
});

describe("Linux software", () => {
  it("distinguishes release and arch of rpm", () => {
    expect(of(softwareOf("rhel-9").entries, "rpm_packages").map((e) => [e.name, e.version, e.release, e.arch])).toEqual(
      [
        ["glibc", "2.34", "100.el9", "i686"],
        ["glibc", "2.34", "100.el9", "x86_64"],
        ["gpg-pubkey", "fd431d51", "4ae0493b", ""],
      ],
    );
  });
  it("has a deb package once, whatever architectures of it are installed", () => {
    expect(names(softwareOf("ubuntu-22.04").entries, "deb_packages")).toEqual([
      "bash",
      "libc6",
      "python3-babel",
      "python3-cryptography",
    ]);
  });
  it("names Python packages like Ubuntu, and drops those that are deb packages", () => {
    expect(of(softwareOf("ubuntu-22.04").entries, "python_packages")).toEqual([
      {
        ...plain,
        name: "python3-jinja2",
        version: "3.1.4",
        source: "python_packages",
        installed_paths: ["/home/dev/.local/lib/python3.10/site-packages", "/usr/local/lib/python3.10/dist-packages"],
      },
    ]);
    expect(names(softwareOf("rhel-9").entries, "python_packages")).toEqual(["PyYAML"]);
  });
  it("uses the known deb packages while their query fails", () => {
    const made = answers({ software_deb: "failed", software_python: [{ name: "Babel", version: "2" }, { name: "b" }] });
    const { replaced, entries } = changesOf(made, {
      platform: "debian",
      knownDebNames: new Set(["python3-babel"]),
    });
    expect(replaced).toEqual(["python_packages"]);
    expect(entries.map(({ name }) => name)).toEqual(["python3-b"]);
  });
  it("keeps the sources whose query failed", () => {
    expect(softwareOf("debian-12").replaced).not.toContain("python_packages");
    expect(softwareOf("centos-7").replaced).toEqual(["rpm_packages", "chrome_extensions", "firefox_addons"]);
  });
  it("ignores sources of another system", () => {
    const made = answers({ software_apps: [{ name: "a" }], software_npm: [{ name: "n", version: 1 }] });
    expect(changesOf(made, { platform: "arch" }).replaced).toEqual(["npm_packages"]);
    expect(changesOf(made, { platform: "rocky", platformLike: "rhel centos" }).replaced).toEqual(["npm_packages"]);
    expect(changesOf(made, { platform: "" }).replaced).toEqual(["apps", "npm_packages"]);
  });
});

describe("the identity of software", () => {
  const entry = softwareOf("macos-14").entries[0]!;

  it("does not depend on paths and use, nor on the order of rows", () => {
    const rows = [
      { name: "b", version: "1", path: "/2" },
      { name: "a", version: "1", path: "/1" },
      { name: "b", version: "1", path: "/1" },
    ];
    const one = changesOf(answers({ software_npm: rows }), { platform: "arch" });
    const other = changesOf(answers({ software_npm: rows.toReversed() }), { platform: "arch" });
    expect(one).toEqual(other);
  });
  it("differs for each field of a version", () => {
    const fields = [
      "name",
      "version",
      "source",
      "extension_for",
      "extension_id",
      "bundle_identifier",
      "release",
      "vendor",
      "arch",
      "upgrade_code",
    ] as const;
    const keys = fields.map((field) => softwareKey({ ...entry, [field]: "other" }));
    expect(new Set([softwareKey(entry), ...keys]).size).toBe(fields.length + 1);
  });
  it("is unambiguous", () => {
    const a = { ...entry, name: "a", version: "bc" };
    expect(softwareKey(a)).not.toBe(softwareKey({ ...a, name: "ab", version: "c" }));
  });
  it("is short", () => expect(softwareKey({ ...entry, name: "x".repeat(5000) })).toMatch(/^[\w-]{32}$/));
  it("of an app's title is its bundle, of others name, source and what it extends", () => {
    const key = titleKey(entry);
    expect(titleKey({ ...entry, name: "renamed" })).toBe(key);
    expect(titleKey({ ...entry, bundle_identifier: "other" })).not.toBe(key);
    const deb = { ...entry, source: "deb_packages", bundle_identifier: "" };
    expect(titleKey(deb)).not.toBe(key);
    expect(titleKey({ ...deb, extension_for: "chrome" })).not.toBe(titleKey(deb));
    expect(titleKey({ ...deb, name: "other" })).not.toBe(titleKey(deb));
  });
});

describe("the fingerprint of a software result", () => {
  const base = () => ({ software_npm: [{ name: "a", version: "1" }], software_rpm: [{ name: "b", version: "1" }] });
  const print = (made: Record<string, unknown[] | "failed">, platform = "rhel") =>
    softwareFingerprint(answers(made), platform);

  it("is equal for equal results", () => {
    for (const name of ["macos-14", "ubuntu-22.04"] as const) {
      const twice: DetailResults[] = [answersOf(name), answersOf(name)];
      const [one, two] = twice.map((results) => softwareFingerprint(results, "x"));
      expect(one).toBe(two);
    }
  });
  it("does not depend on other details", () => {
    expect(print({ ...base(), uptime: [{ total_seconds: "7" }] })).toBe(print(base()));
  });
  it("differs if anything changes", () => {
    const others = [
      print(base(), "centos"),
      print({ ...base(), software_rpm: "failed" }),
      print({ ...base(), software_rpm: [] }),
      print({ ...base(), software_choco: [] }),
      print({ ...base(), software_npm: [{ name: "a", version: "2" }] }),
      print({ ...base(), software_npm: [{ name: "a1", version: "" }] }),
      print({ ...base(), software_npm: [{ name: "a", path: "1" }] }),
      print({
        ...base(),
        software_npm: [
          { name: "a", version: "1" },
          { name: "", version: "" },
        ],
      }),
    ];
    expect(new Set([print(base()), ...others]).size).toBe(others.length + 1);
  });
  it("is empty without software", () => {
    expect(print({ uptime: [{}] })).toBe("");
    expect(print({ software_rpm: "failed" })).toBe("");
  });
});

// The declarative part of a simulated Apple device: it reads its declarations over the wire, and reports their status.
import type { PlistDict } from "../../src/plist/value.ts";
import type { appleDevice } from "./apple-device.ts";

type Device = Pick<ReturnType<typeof appleDevice>, "checkIn">;

export interface HeldDeclaration {
  readonly Type: string;
  readonly Identifier: string;
  readonly ServerToken: string;
  readonly Payload: Record<string, unknown>;
}

interface Item {
  readonly Identifier: string;
  readonly ServerToken: string;
}
const lists = ["Activations", "Assets", "Configurations", "Management"] as const;
type List = (typeof lists)[number];
interface Items {
  readonly DeclarationsToken: string;
  readonly Declarations: Readonly<Record<List, Item[]>>;
}
const kindOf: Readonly<Record<List, string>> = {
  Activations: "activation",
  Assets: "asset",
  Configurations: "configuration",
  Management: "management",
};

/** What the device finds: by default everything is valid and active. */
export interface DeclarationFindings {
  readonly valid?: "valid" | "invalid" | "unknown";
  readonly active?: boolean;
  readonly reasons?: readonly object[];
}

export function declarativeSession(device: Device) {
  let token = "";
  let held = new Map<string, HeldDeclaration>();
  const send = (Endpoint: string, fields: PlistDict = {}) =>
    device.checkIn("DeclarativeManagement", { Endpoint, ...fields });
  const read = async <T>(endpoint: string): Promise<T> => {
    const response = await send(endpoint);
    if (response.status !== 200) throw new Error(`${endpoint} was answered with ${response.status}`);
    if (response.headers.get("content-type") !== "application/json") throw new Error(`${endpoint} is not JSON`);
    return (await response.json()) as T;
  };
  const status = (report: unknown) => send("status", { Data: Buffer.from(JSON.stringify(report)) });
  return {
    send,
    read,
    status,
    /** Names have the form `KIND/IDENTIFIER`. */
    names: () => [...held.keys()].sort(),
    get: (name: string) => held.get(name),
    /** What a device does when it is notified: it reads what is new to it. Returns the names of what it has read. */
    async sync(): Promise<string[]> {
      const { SyncTokens } = await read<{ SyncTokens: { DeclarationsToken: string; Timestamp: string } }>("tokens");
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(SyncTokens.Timestamp)) throw new Error("the timestamp is wrong");
      if (SyncTokens.DeclarationsToken === token) return [];
      const items = await read<Items>("declaration-items");
      const next = new Map<string, HeldDeclaration>();
      const changed: string[] = [];
      for (const list of lists)
        for (const { Identifier, ServerToken } of items.Declarations[list]) {
          const name = `${kindOf[list]}/${Identifier}`;
          const before = held.get(name);
          if (before?.ServerToken === ServerToken) {
            next.set(name, before);
            continue;
          }
          const found = await read<HeldDeclaration>(`declaration/${name}`);
          if (found.Identifier !== Identifier || found.ServerToken !== ServerToken)
            throw new Error(`${name} is not what the list says`);
          next.set(name, found);
          changed.push(name);
        }
      held = next;
      token = items.DeclarationsToken;
      return changed.sort();
    },
    /** Reports on all that the device has. */
    async report(found: Readonly<Record<string, DeclarationFindings>> = {}, FullReport = true): Promise<void> {
      const entries = (kind: string) =>
        [...held].flatMap(([name, { Identifier, ServerToken }]) =>
          name.startsWith(`${kind}/`)
            ? [{ identifier: Identifier, "server-token": ServerToken, active: true, valid: "valid", ...found[name] }]
            : [],
        );
      const declarations = Object.fromEntries(Object.values(kindOf).map((kind) => [`${kind}s`, entries(kind)]));
      const response = await status({ StatusItems: { management: { declarations } }, Errors: [], FullReport });
      if (response.status !== 200) throw new Error(`the status was answered with ${response.status}`);
    },
  };
}

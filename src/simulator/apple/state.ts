// What a simulated Apple device has: profiles, declarations, applications, its lock, and its recovery key.

export interface InstalledProfile {
  readonly uuid: string;
  readonly name: string;
  readonly payloads: number;
  /** The certificate to which recovery keys are encrypted, in DER, if the profile has one. */
  readonly escrow: Buffer | null;
}

/** A declaration that the server has sent. */
export interface ReceivedDeclaration {
  readonly kind: "activation" | "configuration" | "asset" | "management";
  readonly identifier: string;
  readonly serverToken: string;
  readonly valid: boolean;
  readonly active: boolean;
  /** The configurations that it puts into effect, if it is an activation. */
  readonly activates: readonly string[];
  /** The status items that it asks for, if it is a subscription. */
  readonly items: readonly string[];
  /** The version of the system that it demands; null: none. */
  readonly version: string | null;
}

export interface DeviceState {
  readonly profiles: Map<string, InstalledProfile>;
  /** By `kind/identifier`. */
  readonly declarations: Map<string, ReceivedDeclaration>;
  readonly applications: Map<string, { readonly name: string; readonly version: string }>;
  /** The recovery key of the disk; null: the disk is not encrypted. */
  recoveryKey: string | null;
  recoveryLock: string;
  /** Null: the one that it has come with. */
  name: string | null;
  /** The administrator account that the server has created. */
  managedAccount: { readonly GUID: string; readonly shortName: string } | null;
  locked: boolean;
  lost: boolean;
  erased: boolean;
  hasPasscode: boolean;
  awaitsConfiguration: boolean;
}

export const freshState = (awaitsConfiguration: boolean): DeviceState => ({
  profiles: new Map(),
  declarations: new Map(),
  applications: new Map([
    ["com.example.notes", { name: "Notes", version: "4.2" }],
    ["com.example.maps", { name: "Maps", version: "11.0.1" }],
  ]),
  recoveryKey: null,
  recoveryLock: "",
  name: null,
  managedAccount: null,
  locked: false,
  lost: false,
  erased: false,
  hasPasscode: true,
  awaitsConfiguration,
});

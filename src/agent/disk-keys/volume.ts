// The disk of Windows, as Win32_EncryptableVolume has it: numbers, which are the same in every language of Windows.
// https://learn.microsoft.com/windows/win32/secprov/win32-encryptablevolume
import { NoKey } from "./luks.ts";
import type { PowerShell } from "./powershell.ts";

/** GetConversionStatus. */
export const conversions = {
  decrypted: 0,
  encrypted: 1,
  encrypting: 2,
  decrypting: 3,
  encryptionPaused: 4,
  decryptionPaused: 5,
} as const;

/** GetKeyProtectorType. */
export const protectors = { tpm: 1, recoveryPassword: 3, tpmAndPin: 4, tpmAndKey: 5, tpmPinAndKey: 6 } as const;

export interface Protector {
  readonly id: string;
  readonly type: number;
  readonly name: string;
}

export interface Volume {
  readonly conversion: number;
  /** GetProtectionStatus: 1 is on. */
  readonly protection: number;
  readonly isLocked: boolean;
  readonly protectors: readonly Protector[];
  /** Win32_Tpm: present, enabled and activated. */
  readonly hasTpm: boolean;
}

const FIND = `
$Volume = Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftVolumeEncryption -ClassName Win32_EncryptableVolume -Filter "DriveLetter='$env:SystemDrive'"
if (-not $Volume) { return $null }
`;

const READ = `${FIND}
$Call = { param($Name, $Arguments) Invoke-CimMethod -InputObject $Volume -MethodName $Name -Arguments $Arguments }
$Ids = (& $Call GetKeyProtectors @{ KeyProtectorType = [uint32]0 }).VolumeKeyProtectorID
$Protectors = foreach ($Id in $Ids) {
  $Of = @{ VolumeKeyProtectorID = $Id }
  @{ id = $Id; type = (& $Call GetKeyProtectorType $Of).KeyProtectorType; name = (& $Call GetKeyProtectorFriendlyName $Of).FriendlyName }
}
$Tpm = Get-CimInstance -Namespace root/CIMV2/Security/MicrosoftTpm -ClassName Win32_Tpm -ErrorAction SilentlyContinue
@{
  conversion = (& $Call GetConversionStatus @{ PrecisionFactor = [uint32]0 }).ConversionStatus
  protection = (& $Call GetProtectionStatus @{}).ProtectionStatus
  lock = (& $Call GetLockStatus @{}).LockStatus
  protectors = @($Protectors)
  tpm = [bool]($Tpm -and $Tpm.IsEnabled_InitialValue -and $Tpm.IsActivated_InitialValue)
}
`;

/** Arguments of methods have types, which JSON does not have. */
const CALL = `${FIND}
$Arguments = @{}
foreach ($One in $In.arguments.PSObject.Properties) {
  $Value = $One.Value
  if ($Value -is [int] -or $Value -is [long]) { $Value = [uint32]$Value }
  $Arguments[$One.Name] = $Value
}
$Reply = Invoke-CimMethod -InputObject $Volume -MethodName $In.method -Arguments $Arguments
@{ code = $Reply.ReturnValue; id = $Reply.VolumeKeyProtectorID; password = $Reply.NumericalPassword }
`;

const object = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** PowerShell writes a list of one as its only element in some places, and an empty one as null. */
function list(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  // Windows PowerShell writes some lists as an object that contains them.
  const { value: inside, Count: count } = object(value);
  if (Array.isArray(inside) && typeof count === "number") return inside;
  return value === null || value === undefined ? [] : [value];
}

/** Null: the volume is not known to BitLocker, as in editions of Windows without it. */
export function volumeIn(value: unknown): Volume | null {
  if (value === null) return null;
  const { conversion, protection, lock, protectors, tpm } = object(value);
  if (typeof conversion !== "number") throw new NoKey("Windows did not report the state of BitLocker");
  return {
    conversion,
    protection: Number(protection),
    isLocked: lock === 1,
    hasTpm: tpm === true,
    protectors: list(protectors).flatMap((protector) => {
      const { id, type, name } = object(protector);
      return typeof id === "string" ? [{ id, type: Number(type), name: String(name ?? "") }] : [];
    }),
  };
}

/** What administrators can do something about. Other codes are shown as numbers. */
const REASONS: Readonly<Record<string, string>> = {
  "0x80310018": "the TPM of this machine is not ready: prepare it in Windows or in its firmware",
  "0x80310030": "there is a disc or another bootable medium in this machine: remove it and restart",
  "0x80310037": "Windows is set to FIPS compliance, which does not allow recovery passwords",
  "0x8031005a": "this edition of Windows has no BitLocker",
  "0x8031005c": "a Group Policy does not allow recovery passwords",
  "0x80310061": "a Group Policy requires a startup PIN, which the user of this machine has to set",
  "0x80310063": "a Group Policy requires a startup key",
  "0x80310065": "a Group Policy requires a startup key and a PIN",
  "0x80310066": "a Group Policy does not allow to start Windows with the TPM alone",
};

export function bitLockerReason(method: string, code: number): string {
  const hex = `0x${(code >>> 0).toString(16).padStart(8, "0")}`;
  return REASONS[hex] ?? `BitLocker refused ${method}: error ${hex}`;
}

interface Reply {
  readonly id: string;
  readonly password: string;
}

export class EncryptableVolume {
  readonly #run: PowerShell;

  constructor(run: PowerShell) {
    this.#run = run;
  }

  async read(): Promise<Volume | null> {
    return volumeIn(await this.#run(READ));
  }

  /** Calls a method of the volume. Throws `NoKey` if BitLocker refuses it. */
  async call(method: string, parameters: Readonly<Record<string, string | number>> = {}): Promise<Reply> {
    const { code, id, password } = object(await this.#run(CALL, { method, arguments: parameters }));
    if (code !== 0) throw new NoKey(bitLockerReason(method, Number(code)));
    return { id: String(id ?? ""), password: String(password ?? "") };
  }
}

// Commands as the vendor gets them. Pure functions.
import { MASK } from "../../../../api/fields.ts";
import { isRecord } from "../../../../text/record.ts";

/** Names of members that let somebody into a device. */
const SECRET = /^(newPassword|password|\w*PasswordToken)$/;

/** The value with a mask in place of its passwords, at any depth. */
export function masked(value: unknown): { readonly value: unknown; readonly isMasked: boolean } {
  let isMasked = false;
  const any = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(any)
      : isRecord(value)
        ? Object.fromEntries(
            Object.entries(value).map(([key, member]) => {
              if (!SECRET.test(key)) return [key, any(member)];
              isMasked = true;
              return [key, MASK];
            }),
          )
        : value;
  const shown = any(value);
  return { value: shown, isMasked };
}

/** Devices may be switched off for weeks; the vendor forgets a command without a time after ten minutes. */
const LASTS = `${30 * 24 * 3600}s`;

export const commandFor = (content: string): Record<string, unknown> => ({
  duration: LASTS,
  ...(JSON.parse(content) as Record<string, unknown>),
});

export const typeOf = (content: string): string => String((JSON.parse(content) as { type: unknown }).type);

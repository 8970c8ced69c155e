// Endpoints of device management are refused while it is turned off.
import type { Context } from "../platform/core/context.ts";
import { mdmOff } from "../platform/core/errors.ts";

/** 400 while device management of Apple devices is turned off. */
export async function requireAppleMdm({ config }: Pick<Context, "config">): Promise<void> {
  const { mdm } = await config.current();
  if (!mdm.enabled_and_configured) throw mdmOff();
}

/** Throws while device management of Windows devices is off. */
export async function requireWindowsMdm({ config }: Pick<Context, "config">): Promise<void> {
  const { mdm } = await config.current();
  if (!mdm.windows_enabled_and_configured) throw mdmOff();
}

/** Whether device management is turned on for any platform. */
export async function isAnyMdmOn({ config }: Pick<Context, "config">): Promise<boolean> {
  const { mdm } = await config.current();
  return mdm.enabled_and_configured || mdm.windows_enabled_and_configured || mdm.android_enabled_and_configured;
}

/** 400 while device management is turned off for all platforms. */
export async function requireAnyMdm(ctx: Pick<Context, "config">): Promise<void> {
  if (!(await isAnyMdmOn(ctx))) throw mdmOff();
}

import type { ReactElement } from "react";
import { webhookEvents } from "../../../../api/automations/webhook-events.ts";
import { webhooksApi } from "../../../../api/automations/webhooks.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { eventNames } from "./events.ts";

interface SampleValues extends Record<string, unknown> {
  readonly event: (typeof webhookEvents)[number];
  readonly url: string;
}

const initial: SampleValues = { event: "activities", url: "" };

/** Sends a sample of an event once, and says how the other server replied. */
export function TestDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial,
    hasDryRun: false,
    send: async ({ event, url }) => {
      const { delivery } = await client.call(webhooksApi.test, { body: { event, ...(url === "" ? {} : { url }) } });
      await outdate(webhooksApi.deliveries);
      if (delivery.state !== "delivered") throw new Error(`${delivery.url} did not accept it: ${delivery.last_error}`);
      return delivery;
    },
    onDone: ({ url, last_status }) => {
      notifyDone(`${url} accepted the sample (${last_status}).`);
      onClose();
    },
  });
  return (
    <Dialog title="Send sample" onClose={onClose}>
      <Form form={form} submit="Send" onCancel={onClose}>
        <SelectField
          form={form}
          name="event"
          label="Event"
          options={webhookEvents.map((event) => ({ value: event, label: eventNames[event] }))}
        />
        <TextField form={form} name="url" label="URL" type="url" hint="empty: the configured one of the event" />
      </Form>
    </Dialog>
  );
}

import { type ReactElement, useState } from "react";
import { Button } from "react-aria-components/Button";
import { MenuItem as AriaMenuItem, Menu, MenuTrigger } from "react-aria-components/Menu";
import { Popover } from "react-aria-components/Popover";
import type { MenuProps } from "./menu.tsx";

interface AriaMenuProps extends MenuProps {
  readonly isOpenAtFirst: boolean;
}

export default function AriaMenu({ label, items, className, isOpenAtFirst }: AriaMenuProps): ReactElement {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const hasChecks = items.some(({ isChecked }) => isChecked !== undefined);
  return (
    <MenuTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <Button className={className ?? "plain"}>{label}</Button>
      <Popover className="popover">
        <Menu
          aria-label={label}
          className="menu"
          disabledKeys={items.filter(({ disabled }) => disabled !== undefined).map(({ name }) => name)}
          {...(hasChecks
            ? {
                selectionMode: "single" as const,
                selectedKeys: items.filter(({ isChecked }) => isChecked).map(({ name }) => name),
              }
            : {})}
        >
          {items.map(({ name, onSelect, disabled, isDangerous }) => (
            <AriaMenuItem
              key={name}
              id={name}
              textValue={name}
              onAction={onSelect}
              className={isDangerous ? "menu-item danger" : "menu-item"}
            >
              {name}
              {disabled !== undefined && <small>{disabled}</small>}
            </AriaMenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

export function accessibilityFaults(): string[];
export function contrastFaults(): string[];
export function sideways(): string[];
export function focused(): { name: string; visible: boolean };
export function isDark(): boolean;
export function clipboardText(): Promise<string>;
export function isStyled(element: unknown): boolean;

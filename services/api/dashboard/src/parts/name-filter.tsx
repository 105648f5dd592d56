/** A field that filters a list by part of the name. */
export function NameFilter({
  value,
  longest,
  onChange,
}: {
  value: string;
  longest: number;
  onChange(part: string): void;
}) {
  return (
    <label>
      <span>Name contains</span>
      <input
        value={value}
        maxLength={longest}
        onInput={(event) => onChange(event.currentTarget.value.trim().toLowerCase())}
      />
    </label>
  );
}

// Times for people: in the zone of this machine, in the format of its other programs. The database writes times in the zone of its session
// or server.

const two = (n: number): string => String(n).padStart(2, '0');

export const day = (at: string): string => {
  const time = new Date(at);
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
};

/** Hours, minutes, seconds. */
export const clock = (at: string): string => new Date(at).toTimeString().slice(0, 8);

export const minute = (at: string): string => `${day(at)} ${clock(at).slice(0, 5)}`;

/** To the second, with its offset. */
export const second = (at: string): string => {
  const east = -new Date(at).getTimezoneOffset();
  const [hours, minutes] = [Math.trunc(Math.abs(east) / 60), Math.abs(east) % 60];
  return `${day(at)} ${clock(at)}${east < 0 ? '-' : '+'}${two(hours)}${minutes === 0 ? '' : `:${two(minutes)}`}`;
};

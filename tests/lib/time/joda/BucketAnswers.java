// The part of Answers about granularities.

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.druid.java.util.common.DateTimes;
import org.apache.druid.java.util.common.Intervals;
import org.apache.druid.java.util.common.granularity.Granularity;
import org.apache.druid.java.util.common.granularity.PeriodGranularity;
import org.joda.time.DateTimeZone;
import org.joda.time.Interval;
import org.joda.time.Period;

class BucketAnswers {
  // Zones whose rules the time zone databases of the last years agree on, each with
  // something of its own: clocks changed at midnight (Sao_Paulo, Havana, Santiago, Amman, Beirut),
  // by half an hour (Lord_Howe) or two (Troll), a day that never was (Apia), the
  // standard offset moved (Singapore, Caracas, Kathmandu), none of it (Shanghai since 1991).
  static final String[] ZONES = {
    "America/New_York", "America/Denver",   "America/Sao_Paulo", "America/Havana",
    "America/Caracas",  "America/St_Johns", "Europe/London",     "Europe/Berlin",
    "America/Santiago",  "Asia/Amman",      "Asia/Beirut",       "Asia/Shanghai",
    "Asia/Kolkata",     "Asia/Kathmandu",   "Asia/Singapore",    "Australia/Lord_Howe",
    "Antarctica/Troll", "Pacific/Apia",     "UTC",  "+05:30",
  };
  static final String[] PERIODS = {
    "PT1S", "PT1M", "PT5M", "PT10M", "PT15M", "PT30M", "PT1H", "PT6H", "PT8H", "P1D", "P1W",
    "P1M", "P3M", "P1Y", "PT90M", "PT5H", "P2D", "P7D", "P2W", "P5M", "P2Y", "PT0.250S",
  };
  static final long FIRST = DateTimes.of("1970").getMillis();
  static final long LAST = DateTimes.of("2040").getMillis();
  static final long HOUR = 3600000L;

  static long uniform(long low, long high) {
    return low + (long) (Answers.random.nextDouble() * (high - low));
  }

  // A change of the zone's clocks or some time at most three days from one; any time where
  // the zone has none.
  static long nearChange(DateTimeZone zone) {
    long from = uniform(FIRST, LAST);
    long change = zone.nextTransition(from);
    if (change == from || change > LAST) return from;
    return near(change);
  }

  static long near(long change) {
    switch (Answers.below(4)) {
      case 0:
        return change + HOUR / 2 * (Answers.below(9) - 4);
      case 1:
        return change - 1;
      default:
        return uniform(change - 72 * HOUR, change + 72 * HOUR);
    }
  }

  static List<Long> changes(DateTimeZone zone, long from, long to) {
    List<Long> changes = new ArrayList<>();
    for (long at = from;;) {
      long next = zone.nextTransition(at);
      if (next == at || next >= to) return changes;
      changes.add(next);
      at = next;
    }
  }

  // Whether Druid puts every instant of this bucket into this bucket, and none into another
  // that holds all of it: looked at on its ends, and around each change of the clocks.
  static boolean consistent(Granularity granularity, long time, long start, long end) {
    if (start > time || time >= end || granularity.bucketStart(end) == start) return false;
    List<Long> probes = new ArrayList<>(List.of(start - 1, start, end - 1));
    for (long change : changes(granularity.getTimeZone(), start - 26 * HOUR, end)) {
      for (long probe = change - 26 * HOUR; probe <= change + 26 * HOUR; probe += HOUR / 4) {
        probes.add(probe);
        probes.add(probe - 1);
      }
    }
    for (long probe : probes) {
      long other = granularity.bucketStart(probe);
      if (probe >= start && probe < end && other != start) return false;
      // Where midnight happens twice, the day from the second is part of one from the first.
      if (probe < start && other < start && granularity.increment(other) >= end) return false;
    }
    return true;
  }

  static PeriodGranularity granularity(String period, DateTimeZone zone, Long origin) {
    return new PeriodGranularity(
        new Period(period), origin == null ? null : DateTimes.utc(origin), zone);
  }

  // Months and years from the 29th or later are not for segments: lib/time refuses them.
  static Long someOrigin(DateTimeZone zone) {
    if (Answers.chance(70)) return null;
    for (;;) {
      long origin = Answers.chance(50) ? nearChange(zone) : uniform(FIRST, LAST);
      if (Answers.chance(50)) origin -= origin % HOUR;
      if (new org.joda.time.DateTime(origin, zone).getDayOfMonth() <= 28) return origin;
    }
  }

  static void bucket(PrintWriter out, String period, DateTimeZone zone, Long origin, long time) {
    Granularity granularity = granularity(period, zone, origin);
    long start = granularity.bucketStart(time);
    long end = granularity.increment(start);
    out.println(period + "\t" + zone + "\t" + (origin == null ? "-" : origin) + "\t" + time + "\t"
        + (time - start) + "\t" + (end - start) + "\t"
        + (consistent(granularity, time, start, end) ? "=" : "x"));
  }

  static String somePeriod() {
    return PERIODS[Answers.below(PERIODS.length)];
  }

  // Every change of the clocks of every zone, with some granularity and some time near it;
  // then times without regard to changes; then some before 1970.
  static void buckets(PrintWriter out) {
    for (String id : ZONES) {
      DateTimeZone zone = DateTimeZone.forID(id);
      for (long change : changes(zone, FIRST, LAST)) {
        bucket(out, somePeriod(), zone, someOrigin(zone), near(change));
        String day = Answers.chance(50) ? "P1D" : "PT1H";
        if (Answers.chance(30)) bucket(out, day, zone, null, near(change));
      }
      for (int n = 0; n < 15; ++n) {
        bucket(out, somePeriod(), zone, someOrigin(zone), uniform(FIRST, LAST));
      }
    }
    for (String id : new String[] {"UTC", "America/New_York", "Europe/London"}) {
      DateTimeZone zone = DateTimeZone.forID(id);
      for (int n = 0; n < 80; ++n) {
        bucket(out, somePeriod(), zone, someOrigin(zone),
            uniform(DateTimes.of("1925").getMillis(), FIRST));
      }
    }
  }

  // How many buckets Druid walks through for an interval, with the first one's start and
  // the last one's end. Only where all of them are consistent.
  static void counts(PrintWriter out) {
    for (int row = 0; row < 300; ++row) {
      Answers.orRefused(() -> count(out));
    }
  }

  static String count(PrintWriter out) {
    String period = somePeriod();
    DateTimeZone zone = DateTimeZone.forID(ZONES[Answers.below(ZONES.length)]);
    Granularity granularity = granularity(period, zone, someOrigin(zone));
    long start = nearChange(zone);
    long length = granularity.increment(start) - start;
    long end = start + (long) (length * Answers.random.nextDouble() * 40) + 1;
    long count = 0;
    long first = granularity.bucketStart(start);
    long last = first;
    boolean good = true;
    for (Interval each : granularity.getIterable(Intervals.utc(start, end))) {
      ++count;
      last = each.getEndMillis();
      good = good && consistent(granularity, each.getStartMillis(), each.getStartMillis(), last);
    }
    if (!good) return Answers.REFUSED;
    Object origin = ((PeriodGranularity) granularity).getOrigin();
    out.println(period + "\t" + zone + "\t"
        + (origin == null ? "-" : ((org.joda.time.DateTime) origin).getMillis()) + "\t" + start
        + "\t" + end + "\t" + count + "\t" + first + "\t" + last);
    return "";
  }
}

// Writes what Joda-Time and Druid's own granularities answer, for lib/time's tests to be
// held against: see README.md. The seed is fixed, so that the same jars write the same files.

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.druid.java.util.common.DateTimes;
import org.apache.druid.java.util.common.Intervals;
import org.joda.time.DateTime;
import org.joda.time.DateTimeZone;
import org.joda.time.Interval;
import org.joda.time.Period;
import org.joda.time.chrono.ISOChronology;

public class Answers {
  static final long SEED = 20260716;
  static final Random random = new Random(SEED);
  static final String REFUSED = "!";
  static final String OUTSIDE = "~";  // Joda takes it, but it lies outside of Druid's eternity

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    write(folder, "instants.tsv", Answers::instants);
    write(folder, "printed.tsv", Answers::printed);
    write(folder, "periods.tsv", Answers::periods);
    write(folder, "sums.tsv", Answers::sums);
    write(folder, "intervals.tsv", Answers::intervals);
    write(folder, "buckets.tsv", BucketAnswers::buckets);
    write(folder, "counts.tsv", BucketAnswers::counts);
  }

  interface Section {
    void print(PrintWriter out);
  }

  static void write(Path folder, String name, Section section) throws IOException {
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(folder.resolve(name)))) {
      section.print(out);
    }
  }

  static boolean inEternity(long millis) {
    return millis >= DateTimes.MIN.getMillis() && millis <= DateTimes.MAX.getMillis();
  }

  static String orRefused(Supplier<String> answer) {
    try {
      return answer.get();
    } catch (RuntimeException e) {
      return REFUSED;
    }
  }

  // Texts

  static int below(int bound) {
    return random.nextInt(bound);
  }

  static boolean chance(int percent) {
    return below(100) < percent;
  }

  static String number(int low, int high, int width) {
    String digits = Integer.toString(low + below(high - low + 1));
    if (chance(5)) return digits;
    return "0".repeat(Math.max(0, width - digits.length())) + digits;
  }

  static String year() {
    if (chance(80)) return number(1969, 2040, 4);
    if (chance(30)) return (chance(50) ? "-" : "+") + number(0, 12000, 4);
    return number(0, chance(50) ? 99999 : 150000000, 4);
  }

  static String date() {
    switch (below(7)) {
      case 0:
        return year();
      case 1:
        return year() + "-" + number(0, 13, 2);
      case 2:
        return year() + "-" + number(0, 370, 3);
      case 3:
        return year() + "-W" + number(0, 54, 2);
      case 4:
        return year() + "-W" + number(1, 53, 2) + "-" + number(0, 8, 1);
      default:
        return year() + "-" + number(1, 12, 2) + "-" + number(0, 32, 2);
    }
  }

  static String fraction() {
    if (chance(60)) return "";
    StringBuilder digits = new StringBuilder(chance(80) ? "." : ",");
    for (int n = 1 + below(chance(90) ? 9 : 11); n > 0; --n) digits.append(below(10));
    return digits.toString();
  }

  static String offset() {
    switch (below(8)) {
      case 0:
      case 1:
        return chance(90) ? "Z" : "z";
      case 2:
        return (chance(50) ? "+" : "-") + number(0, 25, 2);
      case 3:
        return (chance(50) ? "+" : "-") + number(0, 23, 2) + number(0, 61, 2);
      case 4:
        return (chance(50) ? "+" : "-") + number(0, 23, 2) + ":" + number(0, 61, 2);
      case 5:
        return (chance(50) ? "+" : "-") + number(0, 23, 2) + ":" + number(0, 59, 2) + ":"
            + number(0, 59, 2) + fraction();
      default:
        return "";
    }
  }

  static String time() {
    String hour = number(0, 24, 2);
    String minute = ":" + number(0, 60, 2);
    String second = ":" + number(0, 60, 2);
    switch (below(6)) {
      case 0:
        return "";
      case 1:
        return "T" + hour + fraction() + offset();
      case 2:
        return "T" + hour + minute + fraction() + offset();
      case 3:
        return "T" + offset();
      default:
        return "T" + hour + minute + second + fraction() + offset();
    }
  }

  static String instantText() {
    if (chance(3)) return Long.toString(random.nextLong() >> below(60));
    return (chance(95) ? date() : "") + time();
  }

  static String periodText() {
    StringBuilder text = new StringBuilder(chance(97) ? "P" : "p");
    for (char field : "YMWD".toCharArray()) {
      if (chance(30)) text.append(count()).append(field);
    }
    if (chance(60)) {
      text.append("T");
      for (char field : "HM".toCharArray()) {
        if (chance(40)) text.append(count()).append(field);
      }
      if (chance(40)) text.append(count()).append(fraction()).append(chance(95) ? "S" : "s");
    }
    return text.toString();
  }

  static String count() {
    String sign = chance(12) ? "-" : chance(3) ? "+" : "";
    return sign + (chance(90) ? below(100) : below(2000000));
  }

  // One or two characters deleted, put in or replaced.
  static String spoilt(String text) {
    String letters = "0123456789-+:.,TtZzWwPpYMDHSsx /_";
    StringBuilder out = new StringBuilder(text);
    for (int n = 1 + below(2); n > 0; --n) {
      int at = below(out.length() + 1);
      char letter = letters.charAt(below(letters.length()));
      int kind = below(3);
      if (kind == 0 || at == out.length()) {
        out.insert(at, letter);
      } else if (kind == 1) {
        out.deleteCharAt(at);
      } else {
        out.setCharAt(at, letter);
      }
    }
    return out.toString();
  }

  static String maybeSpoilt(String text) {
    return chance(35) ? spoilt(text) : text;
  }

  // Sections

  static void instants(PrintWriter out) {
    for (int n = 0; n < 1100; ++n) {
      String text = maybeSpoilt(instantText());
      out.println(text + "\t" + orRefused(() -> {
        long millis = DateTimes.of(text).getMillis();
        return inEternity(millis) ? Long.toString(millis) : OUTSIDE;
      }));
    }
  }

  static void printed(PrintWriter out) {
    for (int n = 0; n < 200; ++n) {
      long millis = random.nextLong() >> (1 + below(30));
      out.println(millis + "\t" + DateTimes.utc(millis));
    }
    for (DateTime end : new DateTime[] {DateTimes.MIN, DateTimes.MAX}) {
      out.println(end.getMillis() + "\t" + end);
    }
  }

  static void periods(PrintWriter out) {
    for (int n = 0; n < 600; ++n) {
      String text = maybeSpoilt(periodText());
      out.println(text + "\t" + orRefused(() -> new Period(text).toString()));
    }
  }

  static void sums(PrintWriter out) {
    for (int n = 0; n < 700; ++n) {
      String text = periodText();
      DateTimeZone zone = DateTimeZone.forID(BucketAnswers.ZONES[below(BucketAnswers.ZONES.length)]);
      long from = BucketAnswers.nearChange(zone);
      int times = below(7) - 3;
      String sum = orRefused(() -> Long.toString(
          ISOChronology.getInstance(zone).add(new Period(text), from, times)));
      if (sum.equals(REFUSED) || Math.abs(Long.parseLong(sum)) > 5000000000000L) continue;
      out.println(text + "\t" + zone + "\t" + from + "\t" + times + "\t" + sum);
    }
  }

  static String side(boolean period) {
    return period ? periodText() : instantText();
  }

  static void intervals(PrintWriter out) {
    for (int n = 0; n < 700; ++n) {
      String left = side(chance(25));
      String text = maybeSpoilt(left + "/" + side(chance(left.startsWith("P") ? 5 : 40)));
      out.println(text + "\t" + orRefused(() -> {
        Interval interval = Intervals.of(text);
        long start = interval.getStartMillis();
        long end = interval.getEndMillis();
        return inEternity(start) && inEternity(end) ? start + "\t" + end : OUTSIDE;
      }));
    }
  }
}

// Writes what Druid's own timeline says of random sets of segments, for lib/druid's to be
// held against: see README.md. The seed is fixed, so that the same jars write the same file.

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.apache.druid.data.input.StringTuple;
import org.apache.druid.jackson.DefaultObjectMapper;
import org.apache.druid.timeline.DataSegment;
import org.apache.druid.timeline.SegmentTimeline;
import org.apache.druid.timeline.TimelineObjectHolder;
import org.apache.druid.timeline.partition.DimensionRangeShardSpec;
import org.apache.druid.timeline.partition.HashBasedNumberedShardSpec;
import org.apache.druid.timeline.partition.LinearShardSpec;
import org.apache.druid.timeline.partition.NoneShardSpec;
import org.apache.druid.timeline.partition.NumberedShardSpec;
import org.apache.druid.timeline.partition.PartitionChunk;
import org.apache.druid.timeline.partition.ShardSpec;
import org.apache.druid.timeline.partition.SingleDimensionShardSpec;
import org.apache.druid.timeline.partition.TombstoneShardSpec;
import org.joda.time.DateTime;
import org.joda.time.DateTimeZone;
import org.joda.time.Interval;

public class Timelines {
  static final long SEED = 20260717;
  static final int CASES = 1500;
  static final int HOURS = 24;
  static final DateTime DAY = new DateTime(2026, 7, 16, 0, 0, DateTimeZone.UTC);
  static final DefaultObjectMapper MAPPER = new DefaultObjectMapper();
  static final String[] TYPES = {"numbered", "numbered", "numbered", "hashed", "single",
                                 "range",    "linear",   "none",     "tombstone"};
  static final Random random = new Random(SEED);

  public static void main(String[] args) throws Exception {
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(args[0])))) {
      for (int i = 0; i < CASES; i++) one(out);
    }
  }

  static int below(int bound) {
    return random.nextInt(bound);
  }

  static Interval hours(int start, int end) {
    return new Interval(DAY.plusHours(start), DAY.plusHours(end));
  }

  static int hourOf(DateTime at) {
    return (int) ((at.getMillis() - DAY.getMillis()) / 3600000);
  }

  static ShardSpec shard(String type, int partition, int core) {
    switch (type) {
      case "hashed":
        return new HashBasedNumberedShardSpec(
            partition, core, partition, Math.max(1, core), Collections.emptyList(), null, MAPPER);
      case "single":
        return new SingleDimensionShardSpec("site", null, null, partition, core);
      case "range":
        return new DimensionRangeShardSpec(Collections.singletonList("site"), (StringTuple) null,
                                           (StringTuple) null, partition, core);
      case "linear":
        return new LinearShardSpec(partition);
      case "none":
        return NoneShardSpec.instance();
      case "tombstone":
        return new TombstoneShardSpec();
      default:
        return new NumberedShardSpec(partition, core);
    }
  }

  static void one(PrintWriter out) {
    Map<String, Interval> ofVersion = new LinkedHashMap<>();
    List<DataSegment> segments = new ArrayList<>();
    int groups = 1 + below(6);
    for (int g = 0; g < groups; g++) {
      int length = new int[] {1, 1, 1, 2, 3, 6, 12, 24}[below(8)];
      // Mostly on the grid of their length, now and then across it.
      int start = below(10) == 0 ? below(HOURS - length + 1) : length * below(HOURS / length);
      if (below(3) != 0) start = Math.min(start, 4 / length * length);
      Interval interval = hours(start, start + length);
      String version = "2026-07-17T0" + below(6) + ":00:00.000Z";
      boolean clashes = segments.stream().anyMatch(
          s -> s.getVersion().equals(version) && s.getInterval().overlaps(interval));
      // Druid itself fails on one version whose chunks overlap.
      if (clashes) continue;
      group(out, segments, interval, version);
    }
    SegmentTimeline timeline = SegmentTimeline.forSegments(segments);
    answer(out, timeline);
    out.println("end");
  }

  static void group(PrintWriter out, List<DataSegment> segments, Interval interval,
                    String version) {
    String type = TYPES[below(TYPES.length)];
    int core = type.equals("none") || type.equals("tombstone") ? 1 : below(4);
    if (!type.equals("numbered") && core == 0) core = 1;
    TreeSet<Integer> partitions = new TreeSet<>();
    for (int p = 0; p < core; p++) {
      if (below(6) != 0) partitions.add(p);
    }
    boolean alone = type.equals("none");
    int appended = alone ? 0 : below(3) == 0 ? 1 + below(3) : core == 0 ? 1 + below(2) : 0;
    for (int i = 0; i < appended; i++) {
      int at = core + i + (below(5) == 0 ? 1 : 0);
      partitions.add(at);
    }
    for (int p : partitions) {
      boolean behind = p >= core;
      // What is appended to hashed, ranged or empty chunks is numbered.
      String kind = behind && !type.equals("linear") ? "numbered" : type;
      int told = type.equals("tombstone") && behind ? 0 : core;
      segments.add(DataSegment.builder()
                       .dataSource("events")
                       .interval(interval)
                       .version(version)
                       .shardSpec(shard(kind, p, told))
                       .size(1)
                       .build());
      out.printf("segment\t%d\t%d\t%s\t%s\t%d\t%d%n", hourOf(interval.getStart()),
                 hourOf(interval.getEnd()), version, kind, p, told);
    }
  }

  static String partitionsOf(TimelineObjectHolder<String, DataSegment> holder) {
    List<String> numbers = new ArrayList<>();
    for (PartitionChunk<DataSegment> chunk : holder.getObject()) {
      numbers.add(String.valueOf(chunk.getObject().getShardSpec().getPartitionNum()));
    }
    return String.join(",", numbers);
  }

  static void answer(PrintWriter out, SegmentTimeline timeline) {
    int start = -1, end = -1;
    String last = null;
    // One slice of a chunk that Druid answers in pieces which touch is one here.
    for (TimelineObjectHolder<String, DataSegment> holder : timeline.lookup(hours(0, HOURS))) {
      Interval chunk = holder.getTrueInterval();
      String what = hourOf(chunk.getStart()) + "\t" + hourOf(chunk.getEnd()) + "\t" +
                    holder.getVersion() + "\t" + partitionsOf(holder);
      int from = hourOf(holder.getInterval().getStart());
      if (last != null && last.equals(what) && end == from) {
        end = hourOf(holder.getInterval().getEnd());
        continue;
      }
      if (last != null) out.printf("seen\t%d\t%d\t%s%n", start, end, last);
      start = from;
      end = hourOf(holder.getInterval().getEnd());
      last = what;
    }
    if (last != null) out.printf("seen\t%d\t%d\t%s%n", start, end, last);
    TreeSet<String> hidden = new TreeSet<>();
    for (TimelineObjectHolder<String, DataSegment> holder : timeline.findFullyOvershadowed()) {
      for (PartitionChunk<DataSegment> chunk : holder.getObject()) {
        DataSegment s = chunk.getObject();
        hidden.add(hourOf(s.getInterval().getStart()) + "\t" + hourOf(s.getInterval().getEnd()) +
                   "\t" + s.getVersion() + "\t" + s.getShardSpec().getPartitionNum());
      }
    }
    for (String one : hidden) out.println("hidden\t" + one);
  }
}

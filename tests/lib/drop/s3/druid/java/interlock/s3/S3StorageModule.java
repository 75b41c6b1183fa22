package interlock.s3;

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.s3.AmazonS3;
import com.amazonaws.services.s3.AmazonS3ClientBuilder;
import com.fasterxml.jackson.annotation.JacksonInject;
import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonTypeName;
import com.fasterxml.jackson.databind.Module;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.google.inject.Binder;
import com.google.inject.Inject;
import com.google.inject.Provides;
import com.google.inject.Singleton;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.druid.guice.Binders;
import org.apache.druid.initialization.DruidModule;
import org.apache.druid.segment.SegmentUtils;
import org.apache.druid.segment.loading.DataSegmentKiller;
import org.apache.druid.segment.loading.DataSegmentPusher;
import org.apache.druid.segment.loading.LoadSpec;
import org.apache.druid.segment.loading.SegmentLoadingException;
import org.apache.druid.timeline.DataSegment;
import org.apache.druid.utils.CompressionUtils;

/**
 * Deep storage in an S3-compatible store, with loadSpecs as Druid's own extension writes them. A
 * stand-in for that extension, which the registry does not serve, over the same AWS library: it
 * pushes, loads and deletes segments, and no more. Which segments are deleted, and that their rows
 * go first, is the kill task's doing, which is Druid's own.
 */
public class S3StorageModule implements DruidModule {
  /** One bucket, and how to reach it. */
  static class Bucket {
    final AmazonS3 client;
    final String name;

    Bucket(Properties properties) {
      name = properties.getProperty("druid.storage.bucket");
      client =
          AmazonS3ClientBuilder.standard()
              .withEndpointConfiguration(
                  new EndpointConfiguration(
                      properties.getProperty("druid.s3.endpoint.url"), "us-east-1"))
              .withCredentials(
                  new AWSStaticCredentialsProvider(
                      new BasicAWSCredentials(
                          properties.getProperty("druid.s3.accessKey"),
                          properties.getProperty("druid.s3.secretKey"))))
              .withPathStyleAccessEnabled(true)
              .build();
    }
  }

  @Override
  public List<? extends Module> getJacksonModules() {
    return List.of(new SimpleModule("interlock-s3").registerSubtypes(Zip.class));
  }

  @Override
  public void configure(Binder binder) {
    Binders.dataSegmentPusherBinder(binder).addBinding("s3").to(Pusher.class);
    Binders.dataSegmentKillerBinder(binder).addBinding("s3_zip").to(Killer.class);
  }

  @Provides
  @Singleton
  Bucket bucket(Properties properties) {
    return new Bucket(properties);
  }

  /** Where one segment lies. */
  @JsonTypeName("s3_zip")
  public static class Zip implements LoadSpec {
    private final Bucket bucket;
    private final String key;

    @JsonCreator
    public Zip(@JacksonInject Bucket bucket, @JsonProperty("key") String key) {
      this.bucket = bucket;
      this.key = key;
    }

    @Override
    public LoadSpecResult loadSegment(File folder) throws SegmentLoadingException {
      try (InputStream in = bucket.client.getObject(bucket.name, key).getObjectContent()) {
        return new LoadSpecResult(CompressionUtils.unzip(in, folder).size());
      } catch (Exception e) {
        throw new SegmentLoadingException(e, "cannot load [%s]", key);
      }
    }
  }

  /** Writes segments. */
  public static class Pusher implements DataSegmentPusher {
    private final Bucket bucket;

    @Inject
    public Pusher(Bucket bucket) {
      this.bucket = bucket;
    }

    @Override
    public DataSegment push(File folder, DataSegment segment, boolean unique) throws IOException {
      String key = "druid/segments/" + getStorageDir(segment, unique) + "/index.zip";
      File zip = File.createTempFile("index", ".zip");
      try {
        long size = CompressionUtils.zip(folder, zip);
        bucket.client.putObject(bucket.name, key, zip);
        return segment
            .withSize(size)
            .withBinaryVersion(SegmentUtils.getVersionFromDir(folder))
            .withLoadSpec(loadSpec(key));
      } finally {
        Files.delete(zip.toPath());
      }
    }

    private Map<String, Object> loadSpec(String key) {
      return Map.of("type", "s3_zip", "bucket", bucket.name, "key", key, "S3Schema", "s3n");
    }

    @Override
    public Map<String, Object> makeLoadSpec(URI uri) {
      return loadSpec(uri.getPath().substring(1));
    }

    @Override
    public String getPathForHadoop() {
      return "s3a://" + bucket.name + "/druid/segments";
    }

    @Deprecated
    @Override
    public String getPathForHadoop(String datasource) {
      return getPathForHadoop();
    }
  }

  /** Deletes segments. */
  public static class Killer implements DataSegmentKiller {
    private final Bucket bucket;

    @Inject
    public Killer(Bucket bucket) {
      this.bucket = bucket;
    }

    @Override
    public void kill(DataSegment segment) throws SegmentLoadingException {
      String key = String.valueOf(segment.getLoadSpec().get("key"));
      try {
        bucket.client.deleteObject(bucket.name, key);
      } catch (RuntimeException e) {
        throw new SegmentLoadingException(e, "cannot delete [%s]", key);
      }
    }

    @Override
    public void killAll() {
      throw new UnsupportedOperationException("only segment by segment");
    }
  }
}

import Foundation
import OperatingSystem
import TestSupport

/// A benchmark of the destination `s3` with a moto server, compared with boto3, which puts the same objects into
/// another bucket.
struct S3Delivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let server = """
    import sys
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
    print("port %d." % server.port, file=sys.stderr, flush=True)
    server.serve_forever()
    """
  private static let client = """
    import boto3, sys, time
    s3 = boto3.client("s3", endpoint_url=sys.argv[1], region_name="us-east-1", aws_access_key_id="a",
                      aws_secret_access_key="b")

    """
  private static let byHand = """
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="hpeer")
    names = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
    objects = {name: s3.get_object(Bucket="hpeer", Key=name)["Body"].read() for name in names}
    started = time.monotonic()
    for name, body in objects.items(): s3.put_object(Bucket="other", Key=name, Body=body)
    print(time.monotonic() - started, sum(map(len, objects.values())))
    """

  func measure() async throws -> Row {
    let environment = await onThread { _ in PythonEnvironment("s3") }
    guard let path = environment.program("python") else { return Row(.s3, skipped: environment.missing) }
    let python = try Program(path: path)
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let (service, port) = try await OtherProgram.start(path, ["-c", Self.server], #/port (\d+)\./#, bench)
      let url = "http://127.0.0.1:\(port)"
      _ = try await python.run(
        ["-c", Self.client + "for name in [\"hpeer\", \"other\"]: s3.create_bucket(Bucket=name)", url], home: nil,
        in: bench.workspace)
      let key = bench.workspace.fresh("key")
      try PrivateFile.create(key, Array("key".utf8))
      let delivery = try await TimedDelivery(
        bench,
        [
          "kind = \"s3\"", "bucket = \"hpeer\"", "endpoint = \"\(url)\"", "access-key = \"file:\(key)\"",
          "secret-key = \"file:\(key)\"",
        ])
      let said = try await python.run(["-c", Self.client + Self.byHand, url], home: nil, in: bench.workspace)
      try await service.stop(SIGKILL)
      let floor = try DeliveryComparison.floor(said.output, of: "boto3")
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: floor) }
      for path in [key, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.s3, byHand: "boto3")
  }
}

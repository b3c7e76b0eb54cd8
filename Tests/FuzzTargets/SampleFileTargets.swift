import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the reader of hpeer's JSON. The first byte determines the sizes of chunks and batches.
  @Sendable static func hpeerJSON(_ input: [UInt8]) {
    sampleFile(input, .json, maker: SampleJSONWriter.init(exported:))
  }

  @Sendable static func hpeerCSV(_ input: [UInt8]) { sampleFile(input, .csv) { _ in SampleCSVWriter() } }

  private static func sampleFile(
    _ input: [UInt8], _ format: SampleFile.Format, maker: (Timestamp) -> some SampleFileWriter
  ) {
    guard let seed = input.first else { return }
    let file = Array(input.dropFirst())
    let whole = FileReading(chunkSize: 1 << 16) {
      try SampleFile(format: format, bytes: file).read(batchSize: 100, chunkSize: $0, deliver: $1)
    }
    let divided = FileReading(chunkSize: 1 + Int(seed) % 61) {
      try SampleFile(format: format, bytes: file).read(batchSize: 1 + Int(seed >> 4), chunkSize: $0, deliver: $1)
    }
    requireEqual(whole, divided)
    // One way of reading is faster, and the other is the judge of it.
    let general = FileReading(chunkSize: 1 << 16) {
      try SampleFile(format: format, bytes: file).read(batchSize: 100, chunkSize: $0, by: .general, deliver: $1)
    }
    requireEqual(whole, general)
    // What was read can be written, and reads the same.
    var writer = maker(Timestamp(seconds: 0))
    var bytes: [UInt8] = []
    writer.begin(into: &bytes)
    for sample in divided.samples {
      do { try writer.append(sample, to: &bytes) } catch { fatalError("broken promise: \(error)") }
    }
    writer.end(into: &bytes)
    let again = FileReading(chunkSize: 1 << 16) {
      try SampleFile(format: format, bytes: bytes).read(batchSize: 100, chunkSize: $0, deliver: $1)
    }
    require(again.error == nil && again.report?.isComplete == true, "a whole file: \(text(bytes))")
    require(again.samples.map { json($0) } == divided.samples.map { json($0) }, "the same samples: \(text(bytes))")
  }

  @Sendable static func haeJSON(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let file = Array(input.dropFirst())
    let whole = FileReading(chunkSize: 1 << 16) {
      try HealthAutoExport(bytes: file).read(batchSize: 100, chunkSize: $0, deliver: $1)
    }
    let divided = FileReading(chunkSize: 1 + Int(seed) % 61) {
      try HealthAutoExport(bytes: file).read(batchSize: 1 + Int(seed >> 4), chunkSize: $0, deliver: $1)
    }
    requireEqual(whole, divided)
    for sample in whole.samples + whole.readings {
      requireRoundTrip(sample)
      require(
        sample.type == .workout || sample.type.rawValue.utf8.starts(with: "hae.".utf8),
        "never among samples: \(sample.type)")
    }
    _ = try? RecordFormats.recognise(ImportCandidate(bytes: file))
  }

  /// Fuzzes the reader of HealthPush day files. The first byte determines the file format and the sizes of chunks and
  /// batches.
  @Sendable static func dayFiles(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let file = Array(input.dropFirst())
    let name = ["data.jsonl", "data.json", "data.csv"][Int(seed >> 6) % 3]
    func read(batchSize: Int, _ chunkSize: Int, _ deliver: @escaping (SampleBatch) throws -> Void) throws
      -> ImportReport
    {
      var collector = SampleCollector(size: batchSize, deliver: deliver)
      var reader = HealthPushReader(
        key: "heart_rate", modified: Timestamp(seconds: 0), repairsUnits: seed & 1 == 1, traits: [:])
      // Where a file cannot be read on, the next one is.
      do {
        try reader.read(MemorySource(file), path: name, chunkSize: chunkSize, into: &collector)
      } catch is SampleFileError {}
      collector.report.isComplete = true
      return try collector.finish()
    }
    let whole = FileReading(chunkSize: 1 << 16) { try read(batchSize: 100, $0, $1) }
    let divided = FileReading(chunkSize: 1 + Int(seed) % 61) { try read(batchSize: 1 + Int(seed >> 4), $0, $1) }
    requireEqual(whole, divided)
    for sample in whole.samples + whole.readings { requireRoundTrip(sample) }
    require(
      whole.readings.allSatisfy { $0.type.rawValue.utf8.starts(with: "healthpush.".utf8) },
      "sums are never among samples")
  }

  @Sendable static func hatJSON(_ input: [UInt8]) { healthAppTransfer(input, .json, writer: .json1) }

  @Sendable static func hatCSV(_ input: [UInt8]) { healthAppTransfer(input, .csv, writer: .csv) }

  private static func healthAppTransfer(
    _ input: [UInt8], _ form: HealthAppTransferFile.Form, writer: HealthAppTransferWriter.Form
  ) {
    guard let seed = input.first else { return }
    let file = Array(input.dropFirst())
    func reading(_ bytes: [UInt8], batchSize: Int = 100, chunkSize: Int = 1 << 16) -> FileReading {
      FileReading(chunkSize: chunkSize) {
        try HealthAppTransferFile(form, bytes: bytes).read(batchSize: batchSize, chunkSize: $0, deliver: $1)
      }
    }
    func written(_ samples: [Sample]) -> [UInt8] {
      var writer = HealthAppTransferWriter(writer, exported: Timestamp(seconds: 0))
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      for sample in samples { _ = writer.append(sample, members: [], to: &bytes) }
      writer.end(into: &bytes)
      return bytes
    }
    let whole = reading(file)
    requireEqual(whole, reading(file, batchSize: 1 + Int(seed >> 4), chunkSize: 1 + Int(seed) % 61))
    whole.samples.forEach(requireRoundTrip)
    // What is read and written is read whole, and written the same.
    let bytes = written(whole.samples)
    let again = reading(bytes)
    require(
      again.error == nil && again.report?.isComplete == true && again.report?.skipped.isEmpty == true,
      "a whole file: \(text(bytes))")
    require(written(again.samples) == bytes, "the same again:\n\(text(bytes))\n\(text(written(again.samples)))")
    _ = try? RecordFormats.recognise(ImportCandidate(bytes: file))
  }

  /// Requires that two readings of a file are equal.
  ///
  /// - Parameter other: The reading of the same file in other chunks, or by the other reader.
  private static func requireEqual(_ whole: FileReading, _ other: FileReading) {
    // Of two things that are wrong with one sample, either may be named.
    require(whole.place == other.place, "the same error: \(whole), \(other)")
    require((whole.error == nil) == (other.error == nil), "an error: \(whole), \(other)")
    guard whole.error == nil else { return }
    require(whole.report == other.report, "the same report:\n\(whole)\n\(other)")
    require(
      whole.samples.map { json($0) } == other.samples.map { json($0) }, "the same samples:\n\(whole)\n\(other)")
    require(
      whole.readings.map { json($0) } == other.readings.map { json($0) },
      "the same readings:\n\(whole)\n\(other)")
  }

  /// The complete result of reading a file.
  struct FileReading {
    var samples: [Sample] = []
    /// Readings of daily and other totals. They are kept apart from the samples, because their order relative to the
    /// samples depends on where batches end.
    var readings: [Sample] = []
    var report: ImportReport?
    var error: SampleFileError?

    var place: TextPosition? {
      guard case .malformed(_, _, let position)? = error else { return nil }
      return position
    }

    init(chunkSize: Int, _ read: (Int, @escaping (SampleBatch) throws -> Void) throws -> ImportReport) {
      var (samples, readings): ([Sample], [Sample]) = ([], [])
      do {
        report = try read(chunkSize) { batch in
          let expander = try ChangeExpander(batch.changes)
          samples += try batch.changes.samples.map(expander.sample)
          readings += batch.readings
        }
      } catch {
        guard let error = error as? SampleFileError else { fatalError("broken promise: a documented error: \(error)") }
        self.error = error
      }
      (self.samples, self.readings) = (samples, readings)
    }
  }
}

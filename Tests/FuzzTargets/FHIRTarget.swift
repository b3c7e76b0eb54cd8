import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the FHIR reader. The first byte determines whether the file is a bundle, and the sizes of chunks and
  /// batches.
  @Sendable static func fhir(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    let file = Array(input.dropFirst())
    let format: SampleFile.Format = seed & 1 == 0 ? .fhirResources : .fhirBundle
    let whole = FHIRReading(file, format, batchSize: 100, chunkSize: 1 << 16)
    let divided = FHIRReading(file, format, batchSize: 1 + Int(seed >> 4), chunkSize: 1 + Int(seed) % 61)
    require(whole.report == divided.report, "the same report: \(text(file))")
    require(whole.samples.map { json($0) } == divided.samples.map { json($0) }, "the same samples: \(text(file))")
    whole.samples.forEach(requireRoundTrip)
    requireKept(whole.samples, map: .standard)
    _ = try? RecordFormats.recognise(ImportCandidate(bytes: file))
  }

  /// Fuzzes the FHIR mapping table: a table that is accepted produces resources that can be read back.
  @Sendable static func fhirMap(_ input: [UInt8]) {
    guard let map = try? FHIRMap(table: input, path: "memory") else { return }
    var samples: [Sample] = []
    for type in map.types {
      let unit = SampleTypeCatalogue.healthKit[type]?.canonicalUnit ?? "m"
      for payload in [Payload.quantity(Quantity(0.29, unit)), .category(CategoryValue(value: 1))] {
        samples.append(
          Sample(
            uuid: SampleIdentity.namespace, type: type, start: Timestamp(seconds: 0), end: Timestamp(seconds: 60),
            source: Source(name: "phone"), payload: payload))
      }
    }
    requireKept(samples, map: map)
  }

  /// Requires that samples are unchanged after they are written and read back.
  private static func requireKept(_ samples: [Sample], map: FHIRMap) {
    for form in FHIRWriter.Form.allCases {
      var writer = FHIRWriter(form, exported: Timestamp(seconds: 0), subject: .reference("Patient/1"), map: map)
      var (bytes, written): ([UInt8], [Sample]) = ([], [])
      writer.begin(person: Person(), into: &bytes)
      for sample in samples {
        do {
          if try writer.append(sample, members: [], to: &bytes) { written.append(sample) }
        } catch {
          fatalError("broken promise: \(error)")
        }
      }
      writer.end(into: &bytes)
      let again = FHIRReading(
        bytes, form == .bundle ? .fhirBundle : .fhirResources, batchSize: 100, chunkSize: 1 << 16)
      require(again.report?.isComplete == true, "a whole file: \(text(bytes))")
      require(again.report?.skipped.isEmpty == true, "nothing skipped: \(text(bytes))")
      require(again.samples.map { json($0) } == written.map { json($0) }, "the same samples: \(text(bytes))")
    }
  }

  private struct FHIRReading {
    var samples: [Sample] = []
    /// The report, or `nil` if the file couldn't be read.
    var report: ImportReport?

    init(_ bytes: [UInt8], _ format: SampleFile.Format, batchSize: Int, chunkSize: Int) {
      var samples: [Sample] = []
      do {
        report = try SampleFile(format: format, bytes: bytes).read(batchSize: batchSize, chunkSize: chunkSize) {
          batch in
          let expander = try ChangeExpander(batch.changes)
          samples += try batch.changes.samples.map(expander.sample)
        }
        self.samples = samples
      } catch {
        // How much of it was delivered before depends on the sizes of batches.
        guard error is SampleFileError else { fatalError("broken promise: a documented error: \(error)") }
      }
    }
  }
}

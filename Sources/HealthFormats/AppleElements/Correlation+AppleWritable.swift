import HealthModel

/// Writes `Correlation` with its records. ``CorrelationHandler`` reads it, because its records have identities of
/// their own.
extension Correlation: AppleWritable {
  static var section: AppleExportWriter.Section { .correlations }

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    var kept = KeptMetadata(sample.metadata, writer.text)
    writer.output.start("Correlation")
    writer.output.attribute("type", sample.type.rawValue)
    writer.source(of: sample)
    writer.dates(of: sample, &kept)
    writer.attributes(&kept)
    writer.entries(&kept)
    for member in related { writer.record(member) }
    writer.finish(&kept)
    return true
  }
}

import Foundation
import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the Fitbit reader. The first byte determines the family of the file.
  @Sendable static func fitbit(_ input: [UInt8]) {
    guard let first = input.first, let zone = TimeZone(identifier: "America/New_York"),
      let family = FitbitFamily(rawValue: Int(first) % FitbitFamily.allCases.count)
    else { return }
    let file = Array(input.dropFirst())
    let once = FileReading(chunkSize: 1) { _, deliver in
      var reader = FitbitReader(zone: zone, collector: SampleCollector(size: 100, deliver: deliver))
      // Where a file cannot be read on, the next one is. The second time, exercises and nights are known.
      for _ in 0..<2 {
        do { try reader.read(family, MemorySource(file), named: "file") } catch is SampleFileError {}
      }
      reader.collector.report.isComplete = true
      return try reader.collector.finish()
    }
    require(once.error == nil, "nothing in a file ends an import")
    require(once.readings.isEmpty, "samples are what they are")
    for sample in once.samples {
      requireRoundTrip(sample)
      require(sample.start <= sample.end, "none ends before it begins")
      require((2004...2201).contains(sample.start.civil.year), "none is of a time before there was a tracker")
    }
    let stages = once.samples.filter { $0.type == SampleType("HKCategoryTypeIdentifierSleepAnalysis") }
    require(Set(stages.map(\.uuid)).count == stages.count, "a night is there once")
    _ = try? RecordFormats.recognise(ImportCandidate(bytes: file))
  }
}

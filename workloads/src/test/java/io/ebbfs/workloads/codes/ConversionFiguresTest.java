package io.ebbfs.workloads.codes;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.coding.code.CodeRegistry;
import io.ebbfs.coding.code.Codes;
import io.ebbfs.coding.code.ErasureCode;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConversionFiguresTest {
  @Test
  void showsEveryConversionOfTheseCodesAndMarksWhatIsEncodedAnew() {
    List<ErasureCode> codes =
        List.of(Codes.byName("PC(2x5)"), Codes.byName("PC(6x5)"), Codes.byName("RS(10,4)"));
    assertThat(ConversionFigures.of(CodeRegistry.builtIn(), codes))
        .containsExactly(
            new ConversionFigures("product", "PC(2x5)", "PC(6x5)", 3, 1, 15, 0, 6, 6, false),
            new ConversionFigures("product", "PC(6x5)", "PC(2x5)", 1, 3, 25, 20, 18, 6, false),
            new ConversionFigures(null, "PC(2x5)", "RS(10,4)", 1, 1, 10, 10, 3, 1, true),
            new ConversionFigures(null, "PC(6x5)", "RS(10,4)", 1, 3, 30, 30, 12, 0, true),
            new ConversionFigures(null, "RS(10,4)", "PC(2x5)", 1, 1, 10, 10, 7, 1, true),
            new ConversionFigures(null, "RS(10,4)", "PC(6x5)", 3, 1, 30, 30, 12, 0, true));
  }
}

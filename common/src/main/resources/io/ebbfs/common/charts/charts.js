// Draws the plots of EbbFS with Apache ECharts: lines, horizontal bars, and points with error bars.
// A page gives data and colours ('var(--name)' is a colour of its style sheet); axes, legends,
// tooltips and the cut of outliers are the same on every page.
'use strict';

const Charts = (() => {
  const NARROW = 520;
  const FONT = 12;
  const shown = new Map(), widths = new WeakMap();

  const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = value => value && value.startsWith('var(') ? css(value.slice(4, -1)) : value;
  const fade = (value, alpha) => echarts.color.modifyAlpha(colour(value), alpha);
  const escape = text => echarts.format.encodeHTML(String(text));
  const isNumber = value => typeof value === 'number' && isFinite(value);

  function number(value) {
    const size = Math.abs(value);
    const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString('en', {maximumFractionDigits: digits});
  }

  const family = () => getComputedStyle(document.body).fontFamily;
  const widthOf = text => echarts.format.getTextRect(String(text), FONT + 'px ' + family()).width;

  // ---- axes -----------------------------------------------------------------------------------

  function step(from, to, about) {
    const rough = Math.max(1e-9, (to - from) / about);
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    return power * [1, 2, 5, 10].find(factor => factor * power >= rough * (1 - 1e-9));
  }

  // Where an axis ends. An outlier must not squeeze the rest into a line: the axis ends at the 99th
  // percentile and a tenth, at most at 3 times the 90th percentile, but always above the highest
  // value that has to be visible ('must', for example a bound). If 'usual' is given, the most that
  // is expected of the quantity, the axis ends there instead, unless half of the values are higher.
  function end(values, must, usual) {
    const sorted = values.filter(isNumber).sort((a, b) => a - b);
    if (!sorted.length) return must || 1;
    const at = share => sorted[Math.floor(share * (sorted.length - 1))];
    const tail = sorted.length < 20 || at(0.9) <= 0 ? Infinity : 3 * at(0.9);
    const limit = usual ? Math.max(usual, 1.1 * at(0.5)) : Math.min(1.1 * at(0.99), tail);
    return Math.min(Math.max(1.3 * must, limit), Math.max(must, at(1)));
  }

  function valueAxis(name, from, to, ticks, unit) {
    const interval = step(from, to, ticks);
    return {
      type: 'value', name, interval,
      min: Math.floor(from / interval + 1e-6) * interval,
      max: Math.ceil(to / interval - 1e-6) * interval,
      axisLabel: {color: css('--muted'), fontSize: FONT, hideOverlap: true,
          formatter: value => number(Number(value.toFixed(6))) + (unit || '')},
      axisLine: {show: false, onZero: false}, axisTick: {show: false},
      splitLine: {lineStyle: {color: css('--line')}},
      nameTextStyle: {color: css('--muted'), fontSize: FONT},
    };
  }

  const below = (axis, gap) => Object.assign(axis, {nameLocation: 'middle', nameGap: gap || 26,
      axisLine: {show: true, onZero: false, lineStyle: {color: css('--muted')}}});
  const above = axis => Object.assign(axis, {nameLocation: 'end', nameGap: 10,
      nameTextStyle: Object.assign({align: 'left', padding: [0, 0, 0, -38]}, axis.nameTextStyle)});

  function base(plot, width, names) {
    const legend = plot.legend === false ? 0 : legendHeight(names, width);
    return {
      animation: false,
      textStyle: {fontFamily: family()},
      // Hidden, it still lets a legend of the page switch lines on and off.
      legend: {show: legend > 0, data: names, top: 0, left: 0, itemGap: 12, itemWidth: 20, itemHeight: 11,
          textStyle: {color: css('--ink'), fontSize: FONT}, inactiveColor: css('--line')},
      grid: {left: 46, right: 16, bottom: plot.xLabel ? 44 : 26, top: legend + (plot.yLabel ? 28 : 12)},
      tooltip: {confine: true, backgroundColor: css('--card'), borderColor: css('--line'),
          textStyle: {color: css('--ink'), fontSize: FONT}},
    };
  }

  // ECharts does not say how many lines a legend takes, and the plot has to begin below them.
  function legendHeight(names, width) {
    let lines = names.length ? 1 : 0, used = 0;
    for (const name of names) {
      const own = widthOf(name.name) + 40;
      if (used && used + own > width) { lines++; used = 0; }
      used += own;
    }
    return lines && 24 * lines - 4;
  }

  const row = (key, text, value) => '<div style="display:flex;gap:14px;justify-content:space-between"><span>'
      + (key || '') + escape(text) + '</span><b>' + escape(value) + '</b></div>';

  // ---- lines ----------------------------------------------------------------------------------

  // plot: {lines: [{name, colour, dashed, dots, points: [[x, y]]}], levels: [{y, text, colour}],
  //   marks: [{x, text}], spans: [{from, to, text}], xLabel, yLabel, yFrom, yTo, unit, usual,
  //   xTicks: names of 0, 1, 2 ..., time: x is milliseconds since the epoch}
  function lines(plot, width) {
    const levels = plot.levels || [], named = plot.xTicks && plot.xTicks.length > 0;
    const must = Math.max(0, ...levels.map(level => level.y));
    const all = plot.lines.flatMap(line => line.points);
    const ys = all.map(p => p[1]).filter(isNumber), xs = all.map(p => p[0]);
    const from = isNumber(plot.yFrom) ? plot.yFrom : 0;
    const to = isNumber(plot.yTo) ? plot.yTo : Math.max(end(ys, must, plot.usual), must + 0.1 * (must - from));
    const y = valueAxis(plot.yLabel, from, to, 5, plot.unit);
    const cut = ys.filter(value => value > y.max * (1 + 1e-9));
    const option = base(plot, width, plot.lines.map(({name, dashed}) => ({name, icon: 'path://'
        + (dashed ? 'M0 4h5v3h-5zM8 4h5v3h-5zM16 4h5v3h-5z' : 'M0 4h20v3h-20z')})));
    option.yAxis = above(y);
    if (plot.marks && plot.marks.length) { // their texts stand between the axis and its name
      y.nameGap += 24;
      option.grid.top += 24;
    }
    option.xAxis = xAxis(plot, named, xs, width);
    option.grid.left = Math.max(30, ...[y.min, y.max, y.min + y.interval]
        .map(value => widthOf(y.axisLabel.formatter(value)) + 12));
    y.nameTextStyle.padding = [0, 0, 0, 6 - option.grid.left];
    option.series = plot.lines.map(line => drawn(line, y.max)).concat(signs(plot, levels, width, xs));
    if (cut.length) {
      const text = '▲ ' + (cut.length === 1 ? 'a value' : cut.length + ' values') + ' above the axis, up to '
          + number(Math.max(...cut)) + (plot.unit || '');
      if (widthOf(text) + widthOf(plot.yLabel || '') > width - 40) option.grid.top += 18;
      option.title = {right: 8, top: option.legend.show ? legendHeight(option.legend.data, width) : 0,
          text, padding: 2, textStyle: {fontSize: FONT - 1, fontWeight: 'normal', color: css('--muted')}};
    }
    const showX = x => plot.time ? new Date(x).toLocaleTimeString() : named ? plot.xTicks[Math.round(x)]
        : number(x) + (plot.xLabel ? ' ' + plot.xLabel : '');
    Object.assign(option.tooltip, {trigger: 'axis', axisPointer: {lineStyle: {color: css('--muted')}},
        formatter: items => escape(showX(items[0].value[0])) + items.map(item => row(item.marker,
            item.seriesName, number(item.data.real === undefined ? item.value[1] : item.data.real)
                + (plot.unit || ''))).join('')});
    return option;
  }

  function xAxis(plot, named, xs, width) {
    if (named) {
      // One free place on either side, so that no point lies on the edge.
      return below({type: 'value', name: plot.xLabel, min: -1, max: plot.xTicks.length, interval: 1,
          axisTick: {show: false}, splitLine: {show: false}, nameTextStyle: {color: css('--muted'), fontSize: FONT},
          axisLabel: {color: css('--muted'), fontSize: FONT, formatter: value => plot.xTicks[value] || ''}});
    }
    if (plot.time) {
      const [from, to] = [Math.min(...xs), Math.max(...xs)];
      return below({type: 'time', min: from, max: to, minInterval: (to - from) / Math.max(2, width / 110),
          axisLabel: {color: css('--muted'), fontSize: FONT, hideOverlap: true}, splitLine: {show: false}});
    }
    const most = Math.max(1e-9, ...xs, ...(plot.marks || []).map(mark => mark.x));
    const axis = below(valueAxis(plot.xLabel, 0, most, width < NARROW ? 4 : 6));
    axis.max = most;
    axis.splitLine.show = false;
    axis.axisLabel.showMaxLabel = Math.abs(most / axis.interval - Math.round(most / axis.interval)) < 1e-6;
    return axis;
  }

  function drawn(line, most) {
    const own = colour(line.colour);
    return {
      type: 'line', name: line.name, color: own, clip: false, symbol: line.dots ? 'circle' : 'none', symbolSize: 8,
      showSymbol: true, lineStyle: {width: 2, type: line.dashed ? [5, 4] : 'solid'}, connectNulls: false,
      emphasis: {disabled: true},
      data: line.points.map(([x, y]) => isNumber(y) && y > most * (1 + 1e-9)
          ? {value: [x, most], real: y, symbol: 'triangle', symbolSize: 9, itemStyle: {color: own}}
          : {value: [x, isNumber(y) ? y : '-']}),
    };
  }

  // Bounds, moments and stretches of time. They belong to no line, so no legend hides them.
  function signs(plot, levels, width, xs) {
    const ink = css('--ink'), muted = css('--muted');
    const text = {color: ink, fontSize: FONT, textBorderColor: css('--card'), textBorderWidth: 3};
    // The label of the highest level stands above its line. Every other label stands below its line.
    const highest = Math.max(...levels.map(level => level.y));
    const data = levels.map((level, i) => ({yAxis: level.y, lineStyle: {type: [7, 4], color: colour(level.colour) || ink, width: 1.5},
        label: Object.assign({formatter: level.text, position: (i > 1 ? 'insideStart' : 'insideEnd')
            + (level.y === highest ? 'Top' : 'Bottom')}, text)}))
      .concat((plot.marks || []).map((mark, i) => ({xAxis: mark.x, lineStyle: {type: [2, 3], color: muted, width: 1},
        label: Object.assign({formatter: mark.text, distance: 2 + 12 * (i % 2)}, text)})));
    const span = Math.max(...xs, 1e-9) - Math.min(0, ...xs);
    const areas = (plot.spans || []).map((stretch, i) => [{xAxis: stretch.from,
        name: (stretch.to - stretch.from) / span * (width - 70) > widthOf(stretch.text) ? stretch.text : '',
        itemStyle: {color: fade('var(--muted)', i % 2 ? 0.04 : 0.11)}}, {xAxis: stretch.to}]);
    return {type: 'line', data: [], silent: true,
        markLine: {silent: true, symbol: 'none', data},
        markArea: {silent: true, data: areas, label: {position: 'insideTop', color: muted, fontSize: FONT}}};
  }

  // ---- bars -----------------------------------------------------------------------------------

  // plot: {groups: [{title, bars: [{label, colour, hollow, value, second, low, high, mark, text}]}],
  //   xLabel, unit, names: {value, second, range, mark}, axisPerGroup: each group fills the width, for
  //   groups of different sizes; no axis is drawn}; a part without a name has no legend.
  function bars(plot, width) {
    const names = plot.names || {};
    const reach = bar => Math.max(bar.value + (bar.second || 0), bar.high || 0, bar.mark || 0);
    const rows = plot.groups.flatMap(group => {
      const factor = plot.axisPerGroup ? 1 / Math.max(1e-9, ...group.bars.map(reach)) : 1;
      return (group.title ? [{title: group.title, factor}] : []).concat(group.bars.map(bar => Object.assign({factor}, bar)));
    });
    const real = rows.filter(bar => !bar.title);
    const label = Math.max(40, ...real.map(bar => widthOf(bar.label) + 2));
    const narrow = label > 0.35 * width; // then labels stand above their bars
    const x = valueAxis(plot.xLabel, 0, Math.max(1e-9, ...real.map(bar => bar.factor * reach(bar))), width < NARROW ? 4 : 7, plot.unit);
    if (plot.axisPerGroup) x.show = false;
    const ink = css('--ink');
    const parts = [['value', 'roundRect'], ['second', 'roundRect'], ['range', 'path://M0 0h2v4h16v-4h2v10h-2v-4h-16v4h-2z'],
        ['mark', 'path://M8 0h4v14h-4z']].filter(([part]) => names[part])
        .map(([part, icon]) => ({name: names[part], icon}));
    const option = base(plot, width, parts.length > 1 ? parts : []);
    const text = Math.max(0, ...real.map(bar => widthOf(bar.text || ''))) + 18;
    Object.assign(option.grid, {left: narrow ? 4 : label + 14, right: text,
        top: option.grid.top - 4});
    option.xAxis = below(x);
    if (widthOf(plot.xLabel || '') > width - option.grid.left - text) {
      x.name = ''; // a name in the middle of the axis would lose its ends
      option.graphic = {type: 'text', left: 4, bottom: 4, style: {text: plot.xLabel, fill: css('--muted'), fontSize: FONT}};
    }
    option.yAxis = {type: 'category', inverse: true, data: rows.map(bar => bar.label || ''), axisTick: {show: false},
        axisLine: {lineStyle: {color: css('--muted')}},
        axisLabel: {color: ink, fontSize: FONT, interval: 0, margin: narrow ? 0 : 10, inside: narrow,
            align: narrow ? 'left' : 'right', verticalAlign: narrow ? 'bottom' : 'middle',
            padding: narrow ? [0, 0, 11, 2] : 0, width: narrow ? width - 8 : label, overflow: 'truncate'},
        z: 10};
    const stacked = (part, name, alpha) => ({type: 'bar', stack: 'all', name, color: fade('var(--muted)', alpha), barWidth: narrow ? 13 : 16,
        data: rows.map(bar => bar.title ? '-' : {value: bar.factor * (bar[part] || 0), bar, itemStyle: {
            color: fade(bar.colour, bar.hollow ? 0.15 : alpha), borderColor: colour(bar.colour), borderWidth: bar.hollow || part === 'second' ? 1 : 0,
            borderType: bar.hollow ? [4, 3] : 'solid'}})});
    option.series = [stacked('value', names.value, 0.88)];
    if (real.some(bar => bar.second)) option.series.push(stacked('second', names.second, 0.35));
    option.series.push(
        shapes(names.range, ink, rows, bar => isNumber(bar.low) && isNumber(bar.high), (bar, at, y) => {
          const [low, high] = [at(bar.low), at(bar.high)], style = {stroke: ink, lineWidth: 1.3};
          return high - low < 1 ? [] : [line(low, y, high, y, style), line(low, y - 4, low, y + 4, style),
              line(high, y - 4, high, y + 4, style)];
        }),
        shapes(names.mark, ink, rows, bar => isNumber(bar.mark), (bar, at, y) => [
          line(at(bar.mark), y - 10, at(bar.mark), y + 10, {stroke: css('--card'), lineWidth: 5}),
          line(at(bar.mark), y - 10, at(bar.mark), y + 10, {stroke: ink, lineWidth: 2.5})]),
        shapes('', ink, rows, bar => bar.title, (bar, at, y) => [{type: 'text', style: {text: bar.title, x: narrow ? 6 : 0, y,
          fill: ink, fontSize: FONT + 1, fontWeight: 'bold', verticalAlign: 'middle'}}]),
        shapes('', ink, rows, bar => bar.text, (bar, at, y) => [{type: 'text',
          style: {text: bar.text, x: at(reach(bar)) + 8, y, fill: ink, fontSize: FONT, verticalAlign: 'middle'}}]));
    Object.assign(option.tooltip, {trigger: 'axis', axisPointer: {type: 'none'}, formatter: items => {
      const bar = rows[items[0].dataIndex];
      const show = value => number(value) + (plot.unit || '');
      return bar.title ? '' : '<b>' + escape(bar.label) + '</b>' + row('', names.value || plot.xLabel || '', bar.text || show(bar.value))
          + (bar.second ? row('', names.second, show(bar.second)) : '')
          + (isNumber(bar.low) ? row('', names.range, show(bar.low) + ' – ' + show(bar.high)) : '')
          + (isNumber(bar.mark) ? row('', names.mark, show(bar.mark)) : '');
    }});
    option.height = rows.length * (narrow ? 40 : 27) + option.grid.top + option.grid.bottom;
    return option;
  }

  const line = (x1, y1, x2, y2, style) => ({type: 'line', shape: {x1, y1, x2, y2}, style});

  // One custom series: for each row that has it, shapes at the row's height.
  function shapes(name, own, rows, has, draw) {
    return {type: 'custom', name: name || '', color: own, silent: true, clip: false, z: 5,
        data: rows.map((bar, i) => [bar.title ? 0 : bar.factor * bar.value, i]), encode: {x: 0, y: 1},
        renderItem: (params, api) => {
          const bar = rows[params.dataIndex];
          const at = value => api.coord([bar.factor * value, params.dataIndex])[0];
          return {type: 'group', children: has(bar) ? draw(bar, at, api.coord([0, params.dataIndex])[1]) : []};
        }};
  }

  // ---- points with error bars -----------------------------------------------------------------

  // plot: {series: [{name, colour, hollow, round, points: [{x, y, low, high, label, text}]}],
  //   xLabel, yLabel, xUnit, unit}
  function scatter(plot, width) {
    const points = plot.series.flatMap(series => series.points);
    const xs = points.map(p => p.x), [least, most] = [Math.min(...xs), Math.max(...xs)];
    const margin = Math.max(0.02, (most - least) * 0.1);
    const look = series => ({color: series.hollow ? css('--card') : colour(series.colour),
        borderColor: colour(series.colour), borderWidth: 1.5});
    const option = base(plot, width, plot.series.map(series => ({name: series.name,
        icon: series.round ? 'circle' : 'path://M0 0h9v9h-9z', itemStyle: look(series)})));
    const y = valueAxis(plot.yLabel, 0, Math.max(...points.map(p => p.y)) * 1.04, 5, plot.unit);
    y.max = Math.max(y.max, Math.ceil(end(points.map(p => p.high), 0) / y.interval - 1e-6) * y.interval);
    const x = below(valueAxis(plot.xLabel, least - margin, most + margin, width < NARROW ? 4 : 8, plot.xUnit));
    Object.assign(option, {xAxis: x, yAxis: above(y)});
    option.grid.left = 56;
    y.nameTextStyle.padding = [0, 0, 0, -50];
    const label = (text, position, color, fontWeight) => ({show: Boolean(text), formatter: text, position, color,
        fontWeight, fontSize: FONT, textBorderColor: css('--card'), textBorderWidth: 3});
    // Points that lie on each other have one label, beside the first of them.
    const near = (a, b) => Math.abs(a.x - b.x) < 0.012 * (x.max - x.min) && Math.abs(a.y - b.y) < 0.03 * y.max;
    const together = (p, all) => {
      const group = all.filter(other => near(p, other));
      return group[0] === p ? group.map(other => other.label).filter(Boolean).join(', ') : '';
    };
    option.series = plot.series.flatMap(series => {
      const own = colour(series.colour), highest = series.points.reduce((a, b) => b.y > a.y ? b : a);
      return [{type: 'custom', name: series.name, color: own, silent: true, z: 1, encode: {x: 0, y: 1},
          data: series.points.map(p => [p.x, p.high]),
          renderItem: (params, api) => {
            const p = series.points[params.dataIndex];
            const [x, low] = api.coord([p.x, p.low]), high = api.coord([p.x, Math.min(p.high, y.max)])[1];
            const style = {stroke: own, lineWidth: 1.5};
            return {type: 'group', children: [line(x, low, x, high, style), line(x - 3, low, x + 3, low, style),
                line(x - 3, high, x + 3, high, style)]};
          }},
        {type: 'scatter', name: series.name, color: own, symbol: series.round ? 'circle' : 'rect', symbolSize: 10,
          itemStyle: look(series), z: 3, labelLayout: {hideOverlap: true},
          data: series.points.map(p => ({value: [p.x, p.y], text: p.text,
              label: label(together(p, series.points), 'right', css('--muted'), 'normal')}))},
        // The name stands above the error bar of the highest point.
        {type: 'scatter', name: series.name, color: own, symbolSize: 0, silent: true, z: 4, labelLayout: {hideOverlap: true},
          data: width < NARROW ? [] : [{value: [highest.x, Math.min(highest.high, y.max)],
              label: label(series.name, 'top', own, 'bold')}]}];
    });
    Object.assign(option.tooltip, {trigger: 'item', formatter: item => escape(item.data.text)});
    return option;
  }

  // ---- drawing --------------------------------------------------------------------------------

  const KINDS = {lines, bars, scatter};
  const sizes = new ResizeObserver(entries => requestAnimationFrame(() => entries.map(entry => entry.target)
      .filter(element => shown.has(element) && widths.get(element) !== element.clientWidth)
      .forEach(element => draw(element, shown.get(element)))));

  // Draws a plot in an element, or draws it anew with other data or in another width.
  function draw(element, plot) {
    const width = element.clientWidth;
    if (!shown.has(element)) sizes.observe(element);
    shown.set(element, plot);
    widths.set(element, width);
    if (!width) return; // folded away; drawn once it has a size
    const option = KINDS[plot.kind](plot, width);
    const height = option.height || plot.height || 260;
    delete option.height;
    element.style.height = height + 'px';
    const chart = echarts.getInstanceByDom(element) || echarts.init(element, undefined, {renderer: 'svg'});
    chart.resize({width, height});
    const selected = (chart.getOption() || {legend: []}).legend[0];
    if (selected) option.legend.selected = selected.selected;
    chart.setOption(option, true);
  }

  function forget(element) {
    sizes.unobserve(element);
    shown.delete(element);
    const chart = echarts.getInstanceByDom(element);
    if (chart) chart.dispose();
  }

  // A legend of the page for all plots of its section: a button switches a line off and on.
  function connect(button) {
    button.addEventListener('click', () => {
      button.setAttribute('aria-pressed', button.getAttribute('aria-pressed') !== 'true');
      for (const element of button.closest('section').querySelectorAll('.chart')) {
        const chart = echarts.getInstanceByDom(element);
        if (chart) chart.dispatchAction({type: 'legendToggleSelect', name: button.textContent});
      }
    });
  }

  // Draws every element of class 'chart' that holds its plot as JSON.
  function drawAll() {
    for (const script of document.querySelectorAll('.chart > script')) {
      const plot = JSON.parse(script.textContent), element = script.parentElement;
      script.remove();
      draw(element, plot);
    }
    document.querySelectorAll('.legend button').forEach(connect);
  }

  const again = () => shown.forEach((plot, element) => draw(element, plot));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  addEventListener('beforeprint', () => shown.forEach((plot, element) => {
    const chart = echarts.getInstanceByDom(element);
    if (chart && element.clientWidth > 640) chart.resize({width: 640});
  }));
  addEventListener('afterprint', again);
  return {draw, drawAll, forget, number};
})();
